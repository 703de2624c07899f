package notes

// Windows is part of the package on one system only.
type Windows struct {
	A string `json:"a"`
}
