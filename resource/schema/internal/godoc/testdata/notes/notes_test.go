package notes

// InTest is declared in a test.
type InTest struct {
	A string `json:"a"`
}
