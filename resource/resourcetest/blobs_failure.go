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
			name: "blob-partial",
			contract: "If the reader of the content fails, Put returns that error and changes " +
				"nothing, whether or not the id existed. An interrupted upload must not leave a " +
				"partial blob.",
			run: blobPartial,
		},
		{
			name: "blob-visibility",
			contract: "Until Put has read all of the content, readers see the state before the call: " +
				"the previous blob, or none.",
			run: blobVisibility,
		},
		{
			name: "blob-cancel",
			contract: "If the context of Put is canceled before all of the content has been read, " +
				"Put returns an error and changes nothing. The client has disconnected and cannot " +
				"learn that the upload succeeded.",
			run: blobCancel,
		},
		{
			name: "blob-late-stale",
			contract: "Put compares the revision when the content is complete, not only before it " +
				"reads the content. An upload may take an hour, and must not overwrite a write that " +
				"was acknowledged in that time.",
			run: blobLateStale,
		},
	}
}

var errHalf = errors.New("upload interrupted")

// failing returns a reader that yields content and then an error in place of io.EOF.
func failing(content []byte) io.Reader {
	return io.MultiReader(bytes.NewReader(content),
		readerFunc(func([]byte) (int, error) { return 0, errHalf }))
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// blobPartial checks that an upload that fails leaves nothing, and keeps the content before it.
func blobPartial(k *blobKit) {
	for _, n := range []int{0, 1, 1000, 200_000} {
		b, err := k.store.Put(k.ctx, "new", "", "text/plain", failing(k.random(n)))
		if !errors.Is(err, errHalf) {
			k.errorf(
				"Put of a reader that fails after %d bytes returned %v, %s, want the reader's error",
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

// blobVisibility checks that content is not visible before it is complete.
func blobVisibility(k *blobKit) {
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

// blobCancel checks that an upload is not stored if its context ends.
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
		k.errorf("Put succeeded although its context was canceled before all of the content was read")
	}
	k.absent("thing", resource.ErrNotFound)
}

// blobLateStale checks that the revision is compared after the content has been read.
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
	k.wantError(err, "Put with a revision that was replaced during the upload", resource.ErrStale)
	if between != nil {
		k.holds("thing", between, content)
	}
	meanwhile = func([]byte) (int, error) {
		between = k.put("new", "", content)
		return 0, io.EOF
	}
	_, err = k.store.Put(k.ctx, "new", "", "text/plain", io.MultiReader(strings.NewReader("slow"), meanwhile))
	k.wantError(err, "Put of a new id that was created during the upload", resource.ErrExists)
	if between != nil {
		k.holds("new", between, content)
	}
}
