package relationtest_test

import (
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/resourcetest/relationtest"
)

// open returns stores in memory, which join each other.
func open(*testing.T) relationtest.Stores {
	return relationtest.Stores{
		Companies: resource.OpsOf(memory.New[relationtest.Company](nil)),
		Customers: resource.OpsOf(memory.New[relationtest.Customer](nil)),
		Orders:    resource.OpsOf(memory.New[relationtest.Order](nil)),
		Lines:     resource.OpsOf(memory.New[relationtest.Line](nil)),
		Tags:      resource.OpsOf(memory.New[relationtest.Tag](nil)),
		OrderTags: resource.OpsOf(memory.New[relationtest.OrderTag](nil)),
	}
}

// decorated returns stores that cannot be joined.
func decorated(t *testing.T) relationtest.Stores {
	s := open(t)
	s.Companies = s.Companies.WithFastReads(resource.FastReads{})
	s.Customers = s.Customers.WithFastReads(resource.FastReads{})
	s.Orders = s.Orders.WithFastReads(resource.FastReads{})
	s.Lines = s.Lines.WithFastReads(resource.FastReads{})
	s.Tags = s.Tags.WithFastReads(resource.FastReads{})
	s.OrderTags = s.OrderTags.WithFastReads(resource.FastReads{})
	return s
}

func TestRun(t *testing.T) {
	for _, test := range []struct {
		name string
		open func(t *testing.T) relationtest.Stores
		opts relationtest.Options
	}{
		{"joined", open, relationtest.Options{Requests: 5000}},
		{"joined with Authorize", open, relationtest.Options{Requests: 2000, Authorize: true}},
		{"by keys", decorated, relationtest.Options{Requests: 2000}},
		{"by keys with Authorize", decorated, relationtest.Options{Requests: 1000, Authorize: true}},
	} {
		t.Run(test.name, func(t *testing.T) { relationtest.Run(t, test.open, &test.opts) })
	}
}
