//go:build tagged

package notes

// Tagged needs a build tag.
type Tagged struct {
	A string `json:"a"`
}
