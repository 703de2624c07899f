package query

import "net/url"

// Values writes q as parameters of a URL, which [Parse] reads back: equal to q if q came from Parse with the same
// options. Conditions that are joined by And become parameters of their own, all others the parameter filter. After
// and Token are left out, as clients know them only as a [Cursor].
func (q Query) Values() url.Values { return nil }
