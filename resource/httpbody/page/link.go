package page

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

//go:embed *.js
var shared embed.FS

// sharedFolder is the end of the folder from which a page imports shared modules. In a linker, the
// names of shared modules begin with it.
const sharedFolder = "httpbody/page"

// Statements at the beginning of a line are those of the module itself.
var (
	imports  = regexp.MustCompile(`(?m)^import \{([^}]*)\} from '([^']*)'\n`)
	declares = regexp.MustCompile(`(?m)^(export )?((?:async )?function|class|const|let) ([\w$]+)`)
	comments = regexp.MustCompile(`(?m)^\t*/\*\*(?:[^*]|\*+[^*/])*\*+/\n|/\*\* @type \{[^*]*\} \*/ `)
	refused  = regexp.MustCompile(`(?m)^(?:(?:import|export|var)\b|` +
		`(?:const|let) (?:[^\w$]|[\w$]+(?: = [\w.']+)?,)).*`)
)

// Link returns the ES module name of files and the modules that it imports as one script, without
// import, export and comments of types (/** */). A module precedes those that import it. All modules
// share one scope, so Link returns an error if two have the same name at their top level.
//
// A module imports from './NAME.js' in its own folder, or from a path that ends in
// httpbody/page/NAME.js, a shared module of this package. Link returns an error for an import of a
// name that is not exported, for renamed imports, imports in a circle, and other forms of import and
// export.
func Link(files fs.FS, name string) (string, error) {
	l := &linker{files: files, exports: map[string]map[string]bool{}, modules: map[string]string{}}
	if err := l.add(name); err != nil {
		return "", fmt.Errorf("page: link: %w", err)
	}
	return l.script.String(), nil
}

// linker is the state of [Link].
type linker struct {
	files   fs.FS
	exports map[string]map[string]bool // by module; nil while its imports are added
	modules map[string]string          // by name at the top level
	script  strings.Builder
}

// add appends a module to the script, after the modules that it imports.
func (l *linker) add(name string) error {
	if exports, ok := l.exports[name]; ok {
		if exports == nil {
			return fmt.Errorf("%s imports itself through other modules", name)
		}
		return nil
	}
	l.exports[name] = nil
	files, file := l.files, name
	if path.Dir(name) == sharedFolder {
		files, file = shared, path.Base(name)
	}
	b, err := fs.ReadFile(files, file)
	if err != nil {
		return err
	}
	text := comments.ReplaceAllString(string(b), "")
	for _, m := range imports.FindAllStringSubmatch(text, -1) {
		if err := l.addImport(name, m[2], strings.Split(m[1], ",")); err != nil {
			return err
		}
	}
	text = imports.ReplaceAllString(text, "")
	exports := map[string]bool{}
	for _, m := range declares.FindAllStringSubmatch(text, -1) {
		if other, ok := l.modules[m[3]]; ok {
			return fmt.Errorf("%s and %s declare %s", other, name, m[3])
		}
		l.modules[m[3]] = name
		if m[1] != "" {
			exports[m[3]] = true
		}
	}
	l.exports[name] = exports
	text = declares.ReplaceAllString(text, "$2 $3")
	if statement := refused.FindString(text); statement != "" {
		return fmt.Errorf("%s has an unsupported statement: %s", name, statement)
	}
	l.script.WriteString(text)
	return nil
}

// addImport appends the module at the path from, seen from the module name, and checks that it
// exports names.
func (l *linker) addImport(name, from string, names []string) error {
	target := path.Join(path.Dir(name), from)
	if !strings.HasPrefix(from, "./") {
		target = path.Join(sharedFolder, path.Base(from))
		if !strings.HasPrefix(from, "../") || !strings.HasSuffix(from, "/"+target) {
			return fmt.Errorf("%s imports %s, which is not in its folder and not shared", name, from)
		}
	}
	if err := l.add(target); err != nil {
		return err
	}
	for _, n := range names {
		if n = strings.TrimSpace(n); n != "" && !l.exports[target][n] {
			return fmt.Errorf("%s imports %q, and %s exports no such name", name, n, target)
		}
	}
	return nil
}
