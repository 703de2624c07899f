package rest

// POST of an HTML form with files (RFC 7578). Called by blob.go; calls blob.Collection.CreateAll. The
// files are streamed to the store one after the other.

import (
	"fmt"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

// mediaForm is the media type of a form with files.
const mediaForm = "multipart/form-data"

// maxFormFiles limits the files of a form. A response has an entry for each of them.
const maxFormFiles = 100

// maxFormParts limits the parts of a form, with or without a file.
const maxFormParts = 1000

// maxFormName limits the names of a field and of its file, in bytes. The response repeats them.
const maxFormName = 1024

// isForm reports whether the body is a form.
func (c *call) isForm() bool {
	t, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	return err == nil && t == mediaForm
}

// formReader reads the files of a form.
type formReader struct {
	x     *call
	body  *httpbody.Upload
	parts *multipart.Reader
	seen  int
	files []formFile
}

// formFile is the entry of a file in the response.
type formFile struct {
	Field    string `json:"field"`
	Filename string `json:"filename"`
	*blob.File
}

// postForm stores each file of a form under an id that the server chooses. Fields without a file are
// ignored. If a file cannot be stored, none is.
func (c *call) postForm() error {
	if err := c.acceptable(); err != nil {
		return err
	}
	if err := c.refuseBlobQuery(); err != nil {
		return err
	}
	if len(c.r.Header[http.CanonicalHeaderKey(idempotency.KeyField)]) > 0 {
		return badField(idempotency.KeyField, "unsupported",
			"is not supported for a form; send each file as a request body of its own")
	}
	if _, err := c.parseKey(); err != nil { // it may be required
		return err
	}
	if err := httpbody.CheckIdentity(c.r, -1); err != nil {
		return err
	}
	f, err := c.newFormReader()
	if err != nil {
		return err
	}
	blobs, err := c.route.blobs.CreateAll(c.r.Context(), f.next)
	if err != nil {
		return err
	}
	if len(blobs) == 0 {
		return formError("The form has no file. Send at least one part with a filename.")
	}
	for i, b := range blobs {
		f.files[i].File = b.File()
	}
	return c.sendForm(f.files)
}

// newFormReader returns the reader of the body. Digests apply to the body and not to the files.
func (c *call) newFormReader() (*formReader, error) {
	// the limit of the middleware applies to the body, and Options.MaxSize to each file
	body, err := httpbody.NewUpload(c.r, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	_, params, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || params["boundary"] == "" {
		return nil, formError("The Content-Type has no valid boundary.")
	}
	return &formReader{x: c, body: body, parts: multipart.NewReader(body, params["boundary"])}, nil
}

// sendForm sends the entries of the stored files. Location is the path of the file if there is one.
func (c *call) sendForm(files []formFile) error {
	body, err := json.Marshal(struct {
		Items []formFile `json:"items"`
	}{files})
	if err != nil {
		return fmt.Errorf("rest: encode the files of a form: %w", err)
	}
	h := c.w.Header()
	if len(files) == 1 {
		h["Location"] = []string{c.href(c.route.name, files[0].ID, "")}
	}
	h["Content-Type"] = []string{mediaJSON}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	h["Cache-Control"] = noStore
	header.AddVary(h, c.route.varyList)
	return c.respond(http.StatusCreated, body)
}

// next returns the next file, and [io.EOF] after the last.
func (f *formReader) next() (string, *httpbody.Upload, error) {
	for {
		part, err := f.parts.NextRawPart()
		switch {
		case err == io.EOF:
			return "", nil, f.end()
		case err != nil:
			return "", nil, f.readError()
		}
		if f.seen++; f.seen > maxFormParts {
			return "", nil, formError(fmt.Sprintf("The form has more than %d parts.", maxFormParts))
		}
		if part.FileName() == "" { // another field, or a file field that the user has left empty
			continue
		}
		return f.file(part)
	}
}

// end returns [io.EOF], or an error if the body does not match its digests. Those include what
// follows the last part.
func (f *formReader) end() error {
	if f.body.HasDigest() {
		if _, err := io.Copy(io.Discard, f.body); err != nil {
			return f.readError()
		}
	}
	return io.EOF
}

// file returns a part with a file. Browsers send names in the encoding of the page; what is not UTF-8
// is replaced, because the response is JSON.
func (f *formReader) file(part *multipart.Part) (string, *httpbody.Upload, error) {
	name := strings.ToValidUTF8(part.FormName(), "\uFFFD")
	filename := strings.ToValidUTF8(part.FileName(), "\uFFFD")
	if len(name) > maxFormName || len(filename) > maxFormName {
		return "", nil, formError(fmt.Sprintf("The form has a name of more than %d bytes.", maxFormName))
	}
	if len(f.files) == maxFormFiles {
		return "", nil, formError(fmt.Sprintf("The form has more than %d files.", maxFormFiles))
	}
	if coding := part.Header.Get("Content-Transfer-Encoding"); coding != "" &&
		!strings.EqualFold(coding, "binary") && !strings.EqualFold(coding, "8bit") &&
		!strings.EqualFold(coding, "7bit") {
		return "", nil, formError("The field " + strconv.Quote(name) +
			" has a Content-Transfer-Encoding, which is not supported (RFC 7578 section 4.7).")
	}
	b := f.x.route.blobs
	mediaType, ok := b.DeclaredType(part.Header["Content-Type"])
	if !ok {
		return "", nil, problem.New(problem.UnsupportedMediaType, "The file of the field "+
			strconv.Quote(name)+" has a media type that is not accepted. Accepted are "+acceptedTypes(b)+".")
	}
	f.files = append(f.files, formFile{Field: name, Filename: filename})
	return mediaType, httpbody.NewPart(partReader{f, part}, b.Options().MaxSize), nil
}

// partReader reads the content of a part.
type partReader struct {
	form *formReader
	part *multipart.Part
}

// Read reads the part. An error that is not that of the connection means that the form is not valid.
func (r partReader) Read(p []byte) (int, error) {
	n, err := r.part.Read(p)
	if err != nil && err != io.EOF {
		err = r.form.readError()
	}
	return n, err
}

// readError returns the error of a form that ends too early or is malformed, or that of the body.
func (f *formReader) readError() error {
	if err := f.body.Err(); err != nil {
		return err
	}
	return formError("The form is incomplete or malformed.")
}

// formError returns the error of an invalid form (400).
func formError(detail string) error { return problem.New(problem.BadRequest, detail) }
