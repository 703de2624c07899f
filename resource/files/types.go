package files

// Media types of files that other programs have stored. folder.go uses them if there is no
// metadata.

import (
	"path"
	"slices"
	"strings"
)

// types lists extensions followed by their media type. Unlike package mime, the table does not
// depend on the machine. It has no charsets, because they are unknown.
const types = `txt text log conf ini text/plain
md markdown text/markdown
htm html text/html
css text/css
js mjs text/javascript
csv text/csv
ics text/calendar
json map application/json
jsonl ndjson application/x-ndjson
yaml yml application/yaml
xml application/xml
wasm application/wasm
pdf application/pdf
rtf application/rtf
epub application/epub+zip
zip application/zip
gz tgz application/gzip
zst application/zstd
tar application/x-tar
7z application/x-7z-compressed
docx application/vnd.openxmlformats-officedocument.wordprocessingml.document
xlsx application/vnd.openxmlformats-officedocument.spreadsheetml.sheet
pptx application/vnd.openxmlformats-officedocument.presentationml.presentation
odt application/vnd.oasis.opendocument.text
sqlite sqlite3 application/vnd.sqlite3
ttf font/ttf
otf font/otf
woff font/woff
woff2 font/woff2
png image/png
jpg jpeg image/jpeg
gif image/gif
webp image/webp
avif image/avif
svg image/svg+xml
ico image/vnd.microsoft.icon
bmp image/bmp
tif tiff image/tiff
mp3 audio/mpeg
ogg oga opus audio/ogg
flac audio/flac
wav audio/wav
m4a audio/mp4
mp4 m4v video/mp4
webm video/webm
mov video/quicktime
`

// typeByName returns the media type of a file without metadata by its extension; empty if the
// extension is unknown. An empty one is served as application/octet-stream.
func typeByName(name string) string {
	ext, ok := strings.CutPrefix(strings.ToLower(path.Ext(name)), ".")
	if !ok || ext == "" {
		return ""
	}
	for line := range strings.Lines(types) {
		words := strings.Fields(line)
		if last := len(words) - 1; slices.Contains(words[:last], ext) {
			return words[last]
		}
	}
	return ""
}
