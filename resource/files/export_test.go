package files

// SetOpening sets a function that Open calls between the check of a name and the opening of the file.
func (f *Folder) SetOpening(fn func(id string)) { f.opening = fn }
