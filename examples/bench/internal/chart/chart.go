// Package chart draws the pictures of the documents as SVG: bars of processor time, and lines of a
// cost that grows. The text of a picture depends only on its arguments. Panels are filled boxes with
// dark text, so that a picture can be read on light and on dark pages, and the description lists
// every figure for readers of text.
package chart

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// Chart is a picture with panels in columns.
type Chart struct {
	Title   string
	Note    string // how to draw the picture again; a comment of the file
	Columns [][]Panel
}

// Panel is a box of a chart: [Bars] or [Lines].
type Panel interface {
	// height returns the height in pixels.
	height() int
	// draw draws the panel at a position, and returns its figures as text.
	draw(c *canvas, x, y int) string
}

// Sizes in pixels.
const (
	panelWidth = 480
	gap        = 12
	padding    = 16
	lineHeight = 17
)

// Colors are the same on light and dark pages.
const (
	paper     = "#ffffff"
	border    = "#d0d7de"
	ink       = "#1f2328"
	faint     = "#57606a"
	grid      = "#e4e8ec"
	barColor  = "#8c959f"
	oursColor = "#1f6feb"
)

// lineColors are the colors of the lines of a panel, in order.
var lineColors = []string{oursColor, "#1a7f37", "#b35900", "#8250df", "#cf222e", faint}

// Draw writes the picture.
func (c Chart) Draw(w io.Writer) error {
	var body canvas
	var texts []string
	height := 0
	for i, column := range c.Columns {
		x, y := gap+i*(panelWidth+gap), gap
		for _, p := range column {
			body.add(`<rect x="%d" y="%d" width="%d" height="%d" rx="8" fill="%s" stroke="%s"/>`,
				x, y, panelWidth, p.height(), paper, border)
			texts = append(texts, p.draw(&body, x, y))
			y += p.height() + gap
		}
		height = max(height, y)
	}
	width := gap + len(c.Columns)*(panelWidth+gap)
	_, err := fmt.Fprintf(w, picture, width, height, width, height, escape(c.Note), escape(c.Title),
		escape(strings.Join(texts, " ")), body.String())
	return err
}

// picture is the format of the file.
const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d"
  role="img" aria-labelledby="title desc" font-size="12"
  font-family="-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif">
  <!-- %s -->
  <title id="title">%s</title>
  <desc id="desc">%s</desc>
%s</svg>
`

// canvas collects the elements of a picture.
type canvas struct{ strings.Builder }

// add adds an element.
func (c *canvas) add(format string, args ...any) {
	c.WriteString("  ")
	fmt.Fprintf(c, format, args...)
	c.WriteString("\n")
}

// text adds a text. anchor is start, middle or end.
func (c *canvas) text(x, y int, anchor, color, weight, text string) {
	c.add(`<text x="%d" y="%d" text-anchor="%s" fill="%s" font-weight="%s">%s</text>`,
		x, y, anchor, color, weight, escape(text))
}

func escape(text string) string { return html.EscapeString(text) }

// Microseconds returns a time as text, with two or three digits.
func Microseconds(us float64) string {
	switch {
	case us >= 10_000:
		return fmt.Sprintf("%.0f ms", us/1000)
	case us >= 1000:
		return fmt.Sprintf("%.1f ms", us/1000)
	case us >= 100:
		return fmt.Sprintf("%.0f µs", us)
	case us >= 1:
		return fmt.Sprintf("%.1f µs", us)
	}
	return fmt.Sprintf("%.2f µs", us)
}
