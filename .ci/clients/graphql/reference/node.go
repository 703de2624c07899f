package reference

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
)

// Problem is what the reference complains of.
type Problem struct {
	Rule    string   `json:"rule"`
	Message string   `json:"message"`
	Places  []string `json:"places"`
	Path    string   `json:"path"`
}

// Request is a request of the reference; reference.mjs documents the members that each kind needs.
type Request struct {
	Kind      string          `json:"kind"`
	Text      string          `json:"text"`
	Type      string          `json:"type,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
	Variables json.RawMessage `json:"variables,omitempty"`
}

// Answer is the response of the reference to one Request.
type Answer struct {
	Error  *Problem        `json:"error"` // in place of all else
	Tree   string          `json:"tree"`
	Errors []Problem       `json:"errors"`
	Value  json.RawMessage `json:"value"`
	Absent bool            `json:"absent"`
	Text   string          `json:"text"`
	// Rebuilt and Sorted are what it prints of the schemas that it made.
	Rebuilt string   `json:"rebuilt"`
	Sorted  []string `json:"sorted"`
}

// Ask starts the reference, with a schema from a file, and returns one answer for each request.
func Ask(ctx context.Context, schema string, requests []Request) ([]Answer, error) {
	var in, out, complaint bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, r := range requests {
		if err := enc.Encode(r); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, "node", "reference.mjs", schema)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("reference.mjs: %w\n%s", err, &complaint)
	}
	answers := make([]Answer, 0, len(requests))
	dec := json.NewDecoder(bufio.NewReader(&out))
	for dec.More() {
		var a Answer
		if err := dec.Decode(&a); err != nil {
			return nil, err
		}
		answers = append(answers, a)
	}
	if len(answers) != len(requests) {
		return nil, fmt.Errorf("reference.mjs gave %d answers to %d requests", len(answers), len(requests))
	}
	return answers, nil
}
