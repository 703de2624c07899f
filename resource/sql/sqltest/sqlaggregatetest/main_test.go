package sqlaggregatetest

import (
	"testing"

	"github.com/stoa-go/stoa/resource/sql/sqltest"
)

func TestMain(m *testing.M) { sqltest.Main(m) }
