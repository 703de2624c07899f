package resourcetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
)

// blobStoreCases test sequential calls.
func blobStoreCases() []blobCase {
	return []blobCase{
		{
			name: "blob-sizes",
			contract: "Open returns the stored bytes with their size and the media type of Put. This " +
				"includes empty content, one byte, and lengths next to common buffer sizes.",
			run: blobSizes,
		},
		{
			name: "blob-seek",
			contract: "Content supports Seek from the start, the current position and the end, and " +
				"Read after it. Range requests and resumed downloads need it.",
			run: blobSeek,
		},
		{
			name: "blob-replace",
			contract: "Put with the current revision stores the new content and media type under a " +
				"new revision, also if the new content is shorter.",
			run: blobReplace,
		},
		{
			name: "blob-stale",
			contract: "Put and Delete name the revision that was read. If the blob has another one, " +
				"they return ErrStale and change nothing. Otherwise an acknowledged write would be " +
				"lost.",
			run: blobStale,
		},
		{
			name: "blob-exists",
			contract: "Put without a revision returns ErrExists if the id exists, and changes " +
				"nothing. Only one of several clients can create an id.",
			run: blobExists,
		},
		{
			name: "blob-delete",
			contract: "After Delete, Open and Delete return ErrGone if the store records deletions, " +
				"otherwise ErrNotFound. Other ids are not affected.",
			run: blobDelete,
		},
		{
			name: "blob-recreate",
			contract: "Put of a deleted id creates it again with a revision that it never had, so " +
				"that an old entity tag never matches. A store that does not reuse ids returns " +
				"ErrGone.",
			run: blobRecreate,
		},
		{
			name: "blob-unknown",
			contract: "For an id that was never used, Open and Delete return ErrNotFound, and Put " +
				"with a revision returns ErrStale.",
			run: blobUnknown,
		},
		{
			name: "blob-ids",
			contract: "An id is any file name, with spaces, percent signs and letters of every " +
				"alphabet. Different ids are different blobs. For an invalid id, such as a path out " +
				"of the folder, every method returns ErrNotFound and accesses no file.",
			run: blobIDs,
		},
	}
}

// blobSizes checks contents at the boundaries of usual buffers.
func blobSizes(k *blobKit) {
	for _, n := range []int{0, 1, 2, 511, 512, 513, 4095, 4096, 4097, 32<<10 - 1, 32 << 10, 32<<10 + 1,
		64<<10 - 1, 64 << 10, 64<<10 + 1, 1<<20 + 7} {
		id, content := fmt.Sprintf("size-%d", n), k.random(n)
		b := k.put(id, "", content)
		if b.MediaType != "text/x-kit; charset=utf-8" {
			k.errorf("Put returned media type %q, want the one that it was given", b.MediaType)
		}
		k.holds(id, b, content)
	}
}

// blobSeek checks reads at positions in any order.
func blobSeek(k *blobKit) {
	const size = 100_000
	content := k.random(size)
	k.put("seek", "", content)
	b := k.open("seek")
	defer b.Content.Close()
	at := int64(0)
	for _, step := range []struct {
		offset int64
		whence int
		to     int64
		read   int
	}{
		{99_990, io.SeekStart, 99_990, 10}, {0, io.SeekStart, 0, 1}, {-1, io.SeekEnd, size - 1, 1},
		{0, io.SeekEnd, size, 0}, {65_535, io.SeekStart, 65_535, 2}, {100, io.SeekCurrent, 65_637, 33},
		{-20, io.SeekCurrent, 65_650, 40_000}, {0, io.SeekStart, 0, size},
	} {
		got, err := b.Content.Seek(step.offset, step.whence)
		if err != nil || got != step.to {
			k.fatalf("Seek(%d, %d) from %d returned %d, %v, want %d",
				step.offset, step.whence, at, got, err, step.to)
		}
		want := content[step.to:min(size, step.to+int64(step.read))]
		part := make([]byte, len(want))
		if _, err := io.ReadFull(b.Content, part); err != nil || !bytes.Equal(part, want) {
			k.errorf("Read after Seek(%d, %d) returned %s (%v), want %s",
				step.offset, step.whence, excerpt(part), err, excerpt(want))
		}
		at = step.to + int64(len(want))
	}
	if n, err := b.Content.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		k.errorf("Read at the end returned %d, %v, want 0, io.EOF", n, err)
	}
}

// blobReplace checks that each write has a new revision, also if the content is equal.
func blobReplace(k *blobKit) {
	revs := []resource.Rev{""}
	for _, n := range []int{1000, 70_000, 3, 0, 0, 3} {
		content := k.random(n)
		b := k.put("thing", revs[len(revs)-1], content)
		if slices.Contains(revs, b.Rev) {
			k.errorf("Put returned revision %q, which an earlier Put returned", b.Rev)
		}
		revs = append(revs, b.Rev)
		k.holds("thing", b, content)
	}
	b, err := k.store.Put(k.ctx, "thing", revs[len(revs)-1], "image/png", strings.NewReader("x"))
	if err != nil {
		k.fatalf("Put failed: %v", err)
	}
	if b.MediaType != "image/png" {
		k.errorf("Put with media type image/png returned %q", b.MediaType)
	}
	k.holds("thing", b, []byte("x"))
}

// blobStale checks that writes with an old or invalid revision fail and change nothing.
func blobStale(k *blobKit) {
	first, second := k.random(10), k.random(20)
	old := k.put("thing", "", first)
	cur := k.put("thing", old.Rev, second)
	for _, rev := range []resource.Rev{old.Rev, "nonsense", "\"\x00/../"} {
		_, err := k.store.Put(k.ctx, "thing", rev, "text/plain", bytes.NewReader(first))
		k.wantError(err, fmt.Sprintf("Put with revision %q", rev), resource.ErrStale)
		k.wantError(k.store.Delete(k.ctx, "thing", rev), fmt.Sprintf("Delete with revision %q", rev),
			resource.ErrStale)
		k.holds("thing", cur, second)
	}
}

func blobExists(k *blobKit) {
	content := k.random(100)
	b := k.put("thing", "", content)
	_, err := k.store.Put(k.ctx, "thing", "", "text/plain", strings.NewReader("other"))
	k.wantError(err, "Put of an existing id without a revision", resource.ErrExists)
	k.holds("thing", b, content)
}

// blobDelete checks that a deleted blob is gone, and that others remain.
func blobDelete(k *blobKit) {
	content := k.random(100)
	other := k.put("other", "", content)
	b := k.put("thing", "", k.random(50))
	if err := k.store.Delete(k.ctx, "thing", b.Rev); err != nil {
		k.fatalf("Delete failed: %v", err)
	}
	k.absent("thing", k.gone())
	k.wantError(k.store.Delete(k.ctx, "thing", b.Rev), "a second Delete", k.gone())
	_, err := k.store.Put(k.ctx, "thing", b.Rev, "text/plain", strings.NewReader("x"))
	k.wantError(err, "Put with the revision of a deleted blob", resource.ErrStale, resource.ErrGone)
	k.absent("thing", k.gone())
	k.holds("other", other, content)
}

// blobRecreate checks that a new blob does not accept revisions of a deleted one.
func blobRecreate(k *blobKit) {
	content := k.random(100)
	b := k.put("thing", "", content)
	if err := k.store.Delete(k.ctx, "thing", b.Rev); err != nil {
		k.fatalf("Delete failed: %v", err)
	}
	if k.Once {
		_, err := k.store.Put(k.ctx, "thing", "", "text/plain", bytes.NewReader(content))
		k.wantError(err, "Put of a deleted id", resource.ErrGone)
		k.absent("thing", k.gone())
		return
	}
	again := k.put("thing", "", content)
	if again.Rev == b.Rev {
		k.errorf("a blob that was created again has revision %q, which it had before it was deleted", b.Rev)
	}
	_, err := k.store.Put(k.ctx, "thing", b.Rev, "text/plain", strings.NewReader("x"))
	k.wantError(err, "Put with a revision from before the deletion", resource.ErrStale)
	k.holds("thing", again, content)
}

func blobUnknown(k *blobKit) {
	k.absent("unknown", resource.ErrNotFound)
	k.wantError(k.store.Delete(k.ctx, "unknown", "x"), "Delete of an unknown id", resource.ErrNotFound)
	_, err := k.store.Put(k.ctx, "unknown", "x", "text/plain", strings.NewReader("x"))
	k.wantError(err, "Put of an unknown id with a revision", resource.ErrStale)
	k.absent("unknown", resource.ErrNotFound)
}

// blobIDs checks unusual ids, and that no id leaves the store.
func blobIDs(k *blobKit) {
	ids := []string{"a", "a b", "a%20b", "a+b", "a?b#c", "été", "日本語.txt", "a.tar.gz", "-", "~", "CON.txt",
		"a&b=c", "'\"$`", "a..b", strings.Repeat("n", 200)}
	stored := map[string]*blob.Blob{}
	for i, id := range ids {
		stored[id] = k.put(id, "", []byte{byte(i)})
	}
	for i, id := range ids {
		k.holds(id, stored[id], []byte{byte(i)})
	}
	for _, id := range []string{
		"", ".", "..", "../outside", "/outside", "a/../../outside", "a/b", "nul\x00l"} {
		k.absent(id, resource.ErrNotFound)
		_, err := k.store.Put(k.ctx, id, "", "text/plain", strings.NewReader("x"))
		if !errors.Is(err, resource.ErrNotFound) {
			k.errorf("Put of %q returned %s, want ErrNotFound", id, quoted(err))
		}
		k.wantError(k.store.Delete(k.ctx, id, "x"), fmt.Sprintf("Delete of %q", id), resource.ErrNotFound)
	}
}
