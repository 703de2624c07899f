package chart

import (
	"fmt"
	"strings"
)

// Bars is a panel with groups of horizontal bars on one linear scale, or on a scale for each group.
type Bars struct {
	Title, Subtitle string
	OwnScales       bool // a scale for each group
	Groups          []Group
}

// Group is a job with one bar for each peer.
type Group struct {
	Label string
	Bars  []Bar
}

// Bar is the figure of a peer.
type Bar struct {
	Label string
	Value float64 // microseconds
	Ours  bool    // drawn in another color
}

const (
	barHeight  = 12
	barLabel   = 110 // least width of the labels
	barFigures = 70  // width of the figures after the bars
	letter     = 6   // mean width of a letter
)

func (b Bars) height() int {
	h := 2*padding + 2*lineHeight + 6
	for _, g := range b.Groups {
		h += lineHeight + 6 + len(g.Bars)*(barHeight+3)
	}
	return h
}

func (b Bars) draw(c *canvas, x, y int) string {
	left, bottom := x+padding, y+padding+lineHeight-5
	c.text(left, bottom, "start", ink, "600", b.Title)
	c.text(left, bottom+lineHeight, "start", faint, "400", b.Subtitle)
	bottom += 2 * lineHeight
	labels := barLabel
	for _, g := range b.Groups {
		for _, bar := range g.Bars {
			labels = max(labels, letter*len(bar.Label)+8)
		}
	}
	text := b.Title + ", " + b.Subtitle + "."
	for _, g := range b.Groups {
		bottom += 12
		c.text(left, bottom+5, "start", ink, "600", g.Label)
		bottom += lineHeight - 6
		longest := longestOf(b.Groups)
		if b.OwnScales {
			longest = longestOf([]Group{g})
		}
		var figures []string
		for _, bar := range g.Bars {
			color, weight, name := barColor, "400", faint
			if bar.Ours {
				color, weight, name = oursColor, "600", oursColor
			}
			from := left + labels
			size := max(2, int(bar.Value/longest*float64(panelWidth-2*padding-labels-barFigures)))
			c.text(from-6, bottom+barHeight-2, "end", name, weight, bar.Label)
			c.add(`<rect x="%d" y="%d" width="%d" height="%d" rx="2" fill="%s"/>`,
				from, bottom, size, barHeight, color)
			c.text(from+size+6, bottom+barHeight-2, "start", ink, weight, Microseconds(bar.Value))
			figures = append(figures, fmt.Sprintf("%s %s", bar.Label, Microseconds(bar.Value)))
			bottom += barHeight + 3
		}
		text += " " + g.Label + ": " + strings.Join(figures, ", ") + "."
	}
	return text
}

// longestOf returns the largest value.
func longestOf(groups []Group) (longest float64) {
	for _, g := range groups {
		for _, bar := range g.Bars {
			longest = max(longest, bar.Value)
		}
	}
	return longest
}
