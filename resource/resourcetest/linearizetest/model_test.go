package linearizetest_test

import (
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/resourcetest/linearizetest"
)

func TestJudgeOfNothing(t *testing.T) {
	t.Parallel()
	if got := linearizetest.Judge(nil, true); got != "" {
		t.Errorf("an empty history was found illegal:\n%s", got)
	}
}

// A store without the capabilities must not be found linearizable for having done nothing.
func TestStoreThatCannotBeTested(t *testing.T) {
	t.Parallel()
	o := store(true)
	o.Delete = nil
	_, err := linearizetest.Record(t.Context(), o, newAccount, nil, 1)
	if err == nil || !strings.Contains(err.Error(), "Insert, Replace and Delete") {
		t.Errorf("a store that cannot be tested gave %v", err)
	}
}

// A store that gives ids a second life contradicts the claim that it does not, and so shows that the model is asked.
func TestJudgeAsksTheModel(t *testing.T) {
	t.Parallel()
	opts := &linearizetest.Options{Operations: 2000, Clients: 1} // one alone always does the same
	h, err := linearizetest.Record(t.Context(), store(true), newAccount, opts, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := linearizetest.Judge(h, true); got != "" {
		t.Errorf("the history of a store that gives second lives was found illegal:\n%s", got)
	}
	if got := linearizetest.Judge(h, false); !strings.Contains(got, "Insert") {
		t.Errorf("a second life was not noticed: %q", got)
	}
}
