// Package godoc copies the doc comments of a Go package into methods of schema.Describer. It is the
// implementation of command resource/schema/describe.
package godoc

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// FileName is the name of the generated file.
const FileName = "descriptions_gen.go"

// Generate returns the content of the generated file for the package in the folder dir. Types are
// the names of types to describe in addition to structs with struct tags. The errors are those of
// the parser, a package without descriptions, and an unknown name in types.
func Generate(dir string, types []string) ([]byte, error) {
	p, err := load(dir)
	if err != nil {
		return nil, err
	}
	selected, err := p.selectTypes(types)
	if err != nil {
		return nil, err
	}
	var described []description
	for _, t := range selected {
		if d := p.describe(t); !d.isEmpty() {
			described = append(described, d)
		}
	}
	if len(described) == 0 {
		return nil, fmt.Errorf("%s: no struct with struct tags has a doc comment", dir)
	}
	return p.write(described)
}

// Check returns an error if the generated file in the folder dir is not the result of [Generate].
func Check(dir string, types []string) error {
	want, err := Generate(dir, types)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, FileName)
	got, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s does not exist; run go generate", name)
	}
	if err != nil {
		return err
	}
	// A checkout on Windows may have CRLF.
	got = bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n"))
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s:%d differs from the doc comments; run go generate", name,
			firstDifference(got, want))
	}
	return nil
}

// firstDifference returns the number of the first line that differs.
func firstDifference(a, b []byte) int {
	line := 1
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		if a[i] == '\n' {
			line++
		}
	}
	return line
}

const usage = `usage: describe [-check] [-types names] [folder ...]

Describe writes ` + FileName + ` for the Go package in each folder, by default the current one.

`

// Main is the command: it writes or checks the file of each folder in args and returns the exit
// code. 1 means that a file is out of date or that a package is invalid, and 2 wrong flags.
func Main(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("describe", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	check := flags.Bool("check", false, "write nothing, and exit with code 1 if a file is out of date")
	names := flags.String("types", "",
		"comma-separated `names` of further types, for structs without struct tags")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	dirs := flags.Args()
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	types := strings.FieldsFunc(*names, func(r rune) bool { return r == ',' || r == ' ' })
	code := 0
	for _, dir := range dirs {
		run := generateFile
		if *check {
			run = Check
		}
		if err := run(dir, types); err != nil {
			fmt.Fprintln(stderr, "describe:", err)
			code = 1
		}
	}
	return code
}

// generateFile writes the file of a folder. It does not touch a file that is up to date.
func generateFile(dir string, types []string) error {
	text, err := Generate(dir, types)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, FileName)
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, text) {
		return nil
	}
	return os.WriteFile(name, text, 0o644)
}
