package header

// Digests of content (RFC 9530). Uploads are checked against them.

import (
	"encoding/base64"
	"errors"
	"strings"
)

// Digest is one member of a Repr-Digest or Content-Digest field (RFC 9530).
type Digest struct {
	Algorithm string // sha-256 or sha-512
	Sum       []byte // 32 or 64 bytes
}

var (
	errDigestSyntax = errors.New("must be a list of digests of the form `sha-256=:BASE64:`")
	errDigestLength = errors.New("has a digest of the wrong length for its algorithm")
)

// ParseDigests parses a Repr-Digest or Content-Digest field, which is a Structured Field dictionary
// of byte sequences (RFC 9651 section 3.2). It returns the digests of sha-256 and sha-512, the
// algorithms that RFC 9530 section 5 recommends, and omits those of other algorithms. If an
// algorithm occurs more than once, the last member applies. An absent or empty field yields no
// digests.
//
// ParseDigests returns an error if the field, including the omitted members, is not such a
// dictionary, or if the length of a digest is not that of its algorithm.
func ParseDigests(lines []string) ([]Digest, error) {
	s := strings.Trim(strings.Join(lines, ","), " ")
	var digests []Digest
	for s != "" {
		var d Digest
		var ok bool
		if d.Algorithm, s, ok = cutKey(s); !ok || s == "" || s[0] != '=' {
			return nil, errDigestSyntax
		}
		if d.Sum, s, ok = cutBytes(s[1:]); !ok {
			return nil, errDigestSyntax
		}
		if s, ok = cutComma(s); !ok {
			return nil, errDigestSyntax
		}
		want := map[string]int{"sha-256": 32, "sha-512": 64}[d.Algorithm]
		if want == 0 {
			continue
		}
		if len(d.Sum) != want {
			return nil, errDigestLength
		}
		digests = setDigest(digests, d)
	}
	return digests, nil
}

// setDigest replaces the digest with the algorithm of d, or appends d.
func setDigest(digests []Digest, d Digest) []Digest {
	for i := range digests {
		if digests[i].Algorithm == d.Algorithm {
			digests[i] = d
			return digests
		}
	}
	return append(digests, d)
}

// AppendDigest appends d as a member of a Repr-Digest or Content-Digest field. The caller separates
// members by commas.
func AppendDigest(dst []byte, d Digest) []byte {
	dst = append(append(dst, d.Algorithm...), '=', ':')
	return append(base64.StdEncoding.AppendEncode(dst, d.Sum), ':')
}

// cutKey cuts a key of a dictionary off s: lower-case letters, digits, and _-.*, beginning with a
// letter or *.
func cutKey(s string) (key, rest string, ok bool) {
	i := 0
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', c == '*':
		case i > 0 && ('0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'):
		default:
			return s[:i], s[i:], i > 0
		}
	}
	return s, "", i > 0
}

// cutBytes cuts a byte sequence off s, which is base64 between colons. Padding is optional (RFC
// 9651 section 4.2.7).
func cutBytes(s string) (b []byte, rest string, ok bool) {
	if s == "" || s[0] != ':' {
		return nil, s, false
	}
	text, rest, ok := strings.Cut(s[1:], ":")
	if !ok || strings.ContainsAny(text, "\r\n") { // the decoder would skip these
		return nil, s, false
	}
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	return b, rest, err == nil
}

// cutComma cuts the separator of two members off s. A comma must be followed by another member.
func cutComma(s string) (rest string, ok bool) {
	s = trimSpace(s)
	if s == "" {
		return "", true
	}
	if s[0] != ',' {
		return s, false
	}
	s = trimSpace(s[1:])
	return s, s != ""
}
