package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stoa-go/stoa/resource/internal/retry"
)

var (
	errLost  = errors.New("lost")
	errOther = errors.New("other")
)

func isLost(err error) bool { return errors.Is(err, errLost) }

func TestDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		outcomes []error // of the attempts
		want     error
	}{
		{"success", []error{nil}, nil},
		{"success after losses", []error{errLost, errLost, nil}, nil},
		{"other error", []error{errLost, errOther}, errOther},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			attempts := 0
			err := retry.Do(t.Context(), func() error {
				attempts++
				return tt.outcomes[attempts-1]
			}, isLost)
			if err != tt.want || attempts != len(tt.outcomes) {
				t.Errorf("%v after %d attempts, want %v after %d", err, attempts, tt.want, len(tt.outcomes))
			}
		})
	}
}

func TestDoEnds(t *testing.T) {
	t.Parallel()
	lose := func() error { return errLost }
	synctest.Test(t, func(t *testing.T) {
		limited, cancel := context.WithTimeout(t.Context(), retry.Timeout)
		defer cancel()
		if err := retry.Do(limited, lose, isLost); err != retry.ErrContended {
			t.Errorf("at the time limit: %v, want %v", err, retry.ErrContended)
		}
	})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // both cases of the select may be ready
		if err := retry.Do(canceled, lose, isLost); !errors.Is(err, context.Canceled) {
			t.Fatalf("canceled: %v, want %v", err, context.Canceled)
		}
	}
}
