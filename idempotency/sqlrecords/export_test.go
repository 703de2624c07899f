package sqlrecords

// Encode and Decode are for the tests of this package: what is kept has to come back as it was.
var (
	Encode = encode
	Decode = decode
)
