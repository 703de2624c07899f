package compat

// Responses to the same requests. Called by Compare.

import (
	"slices"
	"strconv"
	"strings"
)

func (c *comparison) compareResponses(before, after *Snapshot) {
	for i := range before.Responses {
		a := &before.Responses[i]
		b := after.find(a.Request)
		if b == nil {
			continue // OpenAPI or SDL show that an operation was removed
		}
		if a.Status != b.Status {
			was, is := strconv.Itoa(a.Status), strconv.Itoa(b.Status)
			c.add(statusChanged, a.Request, was, is, "The status changed from "+was+" to "+is+".")
			continue
		}
		c.compareFields(a, b)
		c.compareProblem(a, b)
		c.compareMembers(a, b)
		if len(a.Order) > 0 && len(b.Order) > 0 && len(lost(a.Order, b.Order)) == len(a.Order) {
			was, is := join(a.Order), join(b.Order)
			c.add(orderChanged, a.Request, was, is,
				"The items are sorted by "+is+" in place of "+was+".")
		}
	}
}

// compareFields compares header fields and the values that are recorded of them.
func (c *comparison) compareFields(a, b *Response) {
	at := a.Request + ": " + strconv.Itoa(a.Status) + " "
	for _, name := range sorted(a.Header) {
		is, ok := b.Header[name]
		if lower := strings.ToLower(name); !ok {
			c.add(headerRemoved, at+lower, name, "", "The header field "+lower+" was removed.")
			continue
		}
		before, after := fieldValues(name, a.Header[name]), fieldValues(name, is)
		for _, v := range lost(before, after) {
			c.add(headerValueRemoved, at+name, v, "", name+" no longer has "+v+".")
		}
		for _, v := range lost(after, before) {
			c.add(headerValueAdded, at+name, "", v, name+" has "+v+".")
		}
	}
	for _, name := range sorted(b.Header) {
		if _, ok := a.Header[name]; !ok {
			lower := strings.ToLower(name)
			c.add(headerAdded, at+lower, "", name, "The header field "+lower+" was added.")
		}
	}
}

// fieldValues returns the elements of a field. Only methods have a case.
func fieldValues(name, text string) []string {
	if text == "" {
		return nil
	}
	all := strings.Split(text, ", ")
	for i, v := range all {
		if name != "Allow" && name != "Access-Control-Allow-Methods" {
			all[i] = mediaName(v)
		}
	}
	return all
}

func (c *comparison) compareProblem(a, b *Response) {
	if a.Problem != b.Problem {
		c.add(problemChanged, a.Request, a.Problem, b.Problem,
			"The problem type changed from "+orNone(a.Problem)+" to "+orNone(b.Problem)+".")
		return
	}
	if a.Title != b.Title {
		c.add(problemChanged, a.Request, a.Title, b.Title,
			"The title changed from "+orNone(a.Title)+" to "+orNone(b.Title)+".")
	}
	if !slices.Equal(a.Codes, b.Codes) {
		was, is := join(a.Codes), join(b.Codes)
		c.add(problemChanged, a.Request, was, is,
			"The codes in errors changed from "+orNone(was)+" to "+orNone(is)+".")
	}
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// compareMembers compares the members of bodies. The type of a member that is null is unknown.
// Differences that the OpenAPI documents show are reported for those only.
func (c *comparison) compareMembers(a, b *Response) {
	for _, name := range sorted(a.Members) {
		was, at := a.Members[name], a.Request+": ."+name
		is, ok := b.Members[name]
		switch {
		case !ok && !c.documents(responseMemberRemoved, name):
			c.add(responseMemberRemoved, at, name, "", "Responses no longer have the member.")
		case ok && was != is && was != "null" && is != "null" && !c.documents(responseTypeWidened, name):
			c.add(responseTypeWidened, at, was, is, "In responses, type changed from "+was+" to "+is+".")
		}
	}
	for _, name := range sorted(b.Members) {
		if _, ok := a.Members[name]; !ok && !c.documents(responseMemberAdded, name) {
			c.add(responseMemberAdded, a.Request+": ."+name, "", name, "Responses have the new member.")
		}
	}
}

// documents reports whether the comparison of schemas has found the same change for a member or for
// one that contains it.
func (c *comparison) documents(kind Kind, name string) bool {
	for part := range strings.SplitSeq(strings.ReplaceAll(name, "[]", ""), ".") {
		for i := range c.changes {
			change := &c.changes[i]
			if Kind(change.Kind) == kind && strings.HasSuffix(change.Place, "."+part) &&
				!strings.Contains(change.Place, ": .") {
				return true
			}
		}
	}
	return false
}
