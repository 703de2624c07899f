// Package console runs the sessions in documents: blocks of commands and their output. Called by the
// tests of the examples.
package console

import "strings"

// Script returns a script of the commands of a session, which prints each command and its
// output, and the text that it should print. A command continues on the next line after a
// backslash.
func Script(text string) (script, want string) {
	var commands, lines []string
	for _, block := range strings.Split(text, "\n```console\n")[1:] {
		block, _, _ = strings.Cut(block, "\n```\n")
		command := ""
		for line := range strings.SplitSeq(block, "\n") {
			lines = append(lines, line)
			if command == "" && !strings.HasPrefix(line, "$ ") {
				continue // output
			}
			command += line + "\n"
			if strings.HasSuffix(line, "\\") {
				continue
			}
			quoted := "'" + strings.ReplaceAll(command, "'", `'\''`) + "'"
			// The command runs in this shell, so that variables stay. awk ends an incomplete last line.
			commands = append(commands, "printf %s "+quoted, "{ "+command[len("$ "):]+"} >output 2>&1",
				"awk 1 output")
			command = ""
		}
	}
	return strings.Join(commands, "\n"), strings.Join(lines, "\n") + "\n"
}
