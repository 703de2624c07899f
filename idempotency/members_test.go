package idempotency_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
)

const (
	isCreated  = "201"
	isRepeated = "201 again"
)

// inContract returns an operation in a contract. Members are pairs of a name, with a minus sign if it
// was not sent, and a value.
func inContract(contract string, members ...string) idempotency.Operation {
	op := anOperation()
	op.Contract = contract
	op.Fingerprint = idempotency.Fingerprint(fmt.Append(nil, contract, members))
	op.Members = func() (all []idempotency.Member) {
		for i := 0; i < len(members); i += 2 {
			name, sent := members[i], members[i][0] != '-'
			if !sent {
				name = name[1:]
			}
			all = append(all, idempotency.Member{Name: name, Value: []byte(members[i+1]), Sent: sent})
		}
		return all
	}
	return op
}

// TestRule141Members: requests in two contracts are the same if all members that one of them has sent
// have the same value in both.
func TestRule141Members(t *testing.T) {
	t.Parallel()
	first := inContract("2", "a", "1", "b", "2", "-c", "3")
	noMembers := inContract("1")
	noMembers.Members = nil
	tests := []struct {
		name   string
		second idempotency.Operation
		want   string
	}{
		{"the same", inContract("1", "a", "1", "b", "2"), isRepeated},
		{"another order", inContract("1", "b", "2", "a", "1"), isRepeated},
		{"other defaults", inContract("1", "a", "1", "b", "2", "-c", "4", "-d", "5"), isRepeated},
		{"a default that the other has sent", inContract("1", "a", "1", "-b", "2"), isRepeated},
		{"a default is given", inContract("1", "a", "1", "b", "2", "c", "3"), isRepeated},
		{"another default is given", inContract("1", "a", "1", "b", "2", "c", "4"), isReused},
		{"another default than was sent", inContract("1", "a", "1", "-b", "3"), isReused},
		{"a member is missing", inContract("1", "a", "1"), isReused},
		{"a member more", inContract("1", "a", "1", "b", "2", "d", "4"), isReused},
		{"another value", inContract("1", "a", "1", "b", "3"), isReused},
		{"another name", inContract("1", "a", "1", "d", "2"), isReused},
		{"values exchanged", inContract("1", "a", "2", "b", "1"), isReused},
		{"the same contract", inContract("2", "a", "1", "b", "2"), isReused},
		{"empty", inContract("1"), isReused},
		{"no members", noMembers, isReused},
	}
	for _, tt := range tests {
		for _, level := range levels {
			t.Run(tt.name+", "+level.String(), func(t *testing.T) {
				t.Parallel()
				d := newDesk(level, idempotency.Options{})
				if got := d.ask(t.Context(), first, nil); got != isCreated {
					t.Fatalf("first request: %s", got)
				}
				for range 2 {
					if got := d.ask(t.Context(), tt.second, nil); got != tt.want {
						t.Errorf("%s, want %s", got, tt.want)
					}
				}
				if got := d.ask(t.Context(), first, nil); got != isRepeated {
					t.Errorf("the first request again: %s, want %s", got, isRepeated)
				}
				if d.ran != 1 {
					t.Errorf("it ran %d times", d.ran)
				}
			})
		}
	}
}

// TestCopiesInAnotherContract: concurrent copies in another contract wait for the first request.
func TestCopiesInAnotherContract(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var answers tally
		d := newDesk(idempotency.AtMostOnce, idempotency.Options{})
		slow := func(ctx context.Context) (idempotency.Record, error) {
			time.Sleep(time.Second)
			return created(ctx)
		}
		go func() { answers.add(d.ask(t.Context(), inContract("2", "a", "1"), slow)) }()
		synctest.Wait()
		for _, op := range []idempotency.Operation{
			inContract("1", "a", "1", "-b", "2"), inContract("1", "a", "2"), inContract("2", "a", "2"),
		} {
			go func() { answers.add(d.ask(t.Context(), op, slow)) }()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		want := "1 x " + isCreated + "\n1 x " + isRepeated + "\n2 x " + isReused + "\n"
		if diff := cmp.Diff(want, answers.String()); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
	})
}

// TestContentHashOfAnotherContract: a request that takes over a claim of another contract derives the
// same names, so it finds what the first has created.
func TestContentHashOfAnotherContract(t *testing.T) {
	t.Parallel()
	d := newDesk(idempotency.ByIdentity, idempotency.Options{})
	d.store.finish = io.ErrUnexpectedEOF
	var hashes []string
	hash := func(ctx context.Context) (idempotency.Record, error) {
		hashes = append(hashes, idempotency.ContentHash(ctx))
		return created(ctx)
	}
	for _, op := range []idempotency.Operation{inContract("2", "a", "1"), inContract("1", "a", "1", "-b", "2")} {
		d.ask(t.Context(), op, hash)
		d.now = d.now.Add(time.Hour)
	}
	if len(hashes) != 2 || hashes[0] != hashes[1] || len(hashes[0]) != 64 {
		t.Errorf("hashes %q, want the same twice", hashes)
	}
}
