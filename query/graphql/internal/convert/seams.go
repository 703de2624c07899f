package convert

import (
	"context"

	"github.com/stoa-go/stoa/resource"
)

// The seams of package resource that are on their way; this file goes when they are there.

func etag(r *resource.Resource, e *resource.Entry) string {
	return any(r).(interface{ ETag(*resource.Entry) string }).ETag(e)
}

func pageCursor(p *resource.Page, i int) string {
	return any(p).(interface{ Cursor(int) string }).Cursor(i)
}

func pageEnds(p *resource.Page, i int) []int32 {
	return any(p).(interface{ Ends(int) []int32 }).Ends(i)
}

func follow(ctx context.Context, c *resource.Catalog, r *resource.Resource, relation string, from []resource.Entry) (resource.Page, error) {
	return any(c).(interface {
		Follow(context.Context, *resource.Resource, string, []resource.Entry, []string) (resource.Page, error)
	}).Follow(ctx, r, relation, from, nil)
}
