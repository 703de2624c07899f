package resourcetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
)

// blobFailureCases test uploads that end early: by an error, a canceled context or a concurrent
// write.
func blobFailureCases() []blobCase {
	return []blobCase{
		{
			name: "blob-half",
			contract: "If the content ends with an error nothing has changed, whether something was there " +
				"or not, and Put returns that very error: a client that was cut off has stored nothing, " +
				"and is told why.",
			run: blobHalf,
		},
		{
			name: "blob-unseen",
			contract: "Until Put has all of the content nobody sees anything of it: readers get what was " +
				"there before, and where nothing was they find nothing.",
			run: blobUnseen,
		},
		{
			name: "blob-cancel",
			contract: "Put whose context has ended before all of the content came changes nothing: who " +
				"asked for it has gone, and nobody would learn that it was done.",
			run: blobCancel,
		},
		{
			name: "blob-late-stale",
			contract: "The revision counts when the content is complete and not only when it begins: an " +
				"upload may take an hour, and what was stored meanwhile would be lost.",
			run: blobLateStale,
		},
	}
}

var errHalf = errors.New("the other half does not come")

// failing returns a reader that yields content and then an error in place of io.EOF.
func failing(content []byte) io.Reader {
	return io.MultiReader(bytes.NewReader(content),
		readerFunc(func([]byte) (int, error) { return 0, errHalf }))
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func blobHalf(k *blobKit) {
	for _, n := range []int{0, 1, 1000, 200_000} {
		b, err := k.store.Put(k.ctx, "new", "", "text/plain", failing(k.random(n)))
		if !errors.Is(err, errHalf) {
			k.errorf(
				"Put of a reader that fails after %d bytes returned %v, %s, want the error of the reader",
				n, b, quoted(err))
		}
		k.absent("new", resource.ErrNotFound)
	}
	content := k.random(500)
	cur := k.put("thing", "", content)
	for _, n := range []int{0, 100, 200_000} {
		_, err := k.store.Put(k.ctx, "thing", cur.Rev, "image/png", failing(k.random(n)))
		k.wantError(err, "Put of a reader that fails", errHalf)
		k.holds("thing", cur, content)
	}
	// Failed uploads must not prevent a later one.
	k.holds("new", k.put("new", "", content), content)
}

func blobUnseen(k *blobKit) {
	old := k.random(300)
	cur := k.put("thing", "", old)
	for _, id := range []string{"thing", "new"} {
		expect := resource.Rev("")
		if id == "thing" {
			expect = cur.Rev
		}
		content, looked := k.random(200_000), false
		look := readerFunc(func([]byte) (int, error) {
			if looked = true; id == "thing" {
				k.holds(id, cur, old)
			} else {
				k.absent(id, resource.ErrNotFound)
			}
			return 0, io.EOF
		})
		b, err := k.store.Put(k.ctx, id, expect, "text/plain", io.MultiReader(bytes.NewReader(content), look))
		if err != nil {
			k.fatalf("Put failed: %v", err)
		}
		if !looked {
			k.errorf("Put of %q did not read its content to the end", id)
		}
		k.holds(id, b, content)
	}
}

func blobCancel(k *blobKit) {
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	leave := readerFunc(func([]byte) (int, error) {
		cancel()
		return 0, io.EOF
	})
	_, err := k.store.Put(ctx, "thing", "", "text/plain",
		io.MultiReader(bytes.NewReader(k.random(1000)), leave))
	if err == nil {
		k.errorf("Put succeeded although its context ended before its content did")
	}
	k.absent("thing", resource.ErrNotFound)
}

func blobLateStale(k *blobKit) {
	cur := k.put("thing", "", k.random(10))
	content := k.random(20)
	var between *blob.Blob
	meanwhile := readerFunc(func([]byte) (int, error) {
		between = k.put("thing", cur.Rev, content)
		return 0, io.EOF
	})
	_, err := k.store.Put(k.ctx, "thing", cur.Rev, "text/plain",
		io.MultiReader(strings.NewReader("slow"), meanwhile))
	k.wantError(err, "Put whose revision was replaced while its content came", resource.ErrStale)
	if between != nil {
		k.holds("thing", between, content)
	}
	meanwhile = func([]byte) (int, error) {
		between = k.put("new", "", content)
		return 0, io.EOF
	}
	_, err = k.store.Put(k.ctx, "new", "", "text/plain", io.MultiReader(strings.NewReader("slow"), meanwhile))
	k.wantError(err, "Put where something came into being while its content came", resource.ErrExists)
	if between != nil {
		k.holds("new", between, content)
	}
}
