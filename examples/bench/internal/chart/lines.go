package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Lines is a panel with one line for each series, both axes logarithmic.
type Lines struct {
	Title, Subtitle string
	Size            string // label of the horizontal axis
	Series          []Series
}

// Series is one line.
type Series struct {
	Label  string
	Points []Point // sorted by Size
}

// Point is a cost in microseconds at a size. Both are positive.
type Point struct {
	Size         int
	Microseconds float64
}

const (
	plotHeight = 170
	plotLeft   = 56  // width of the labels of the vertical axis
	plotRight  = 120 // least width of the labels of the lines
	boldLetter = 7   // mean width of a letter of these labels
)

func (l Lines) height() int { return 2*padding + 3*lineHeight + plotHeight + 12 }

// axis maps values to pixels on a logarithmic scale from one power of ten to another.
type axis struct {
	low, high    int // powers of ten
	first, pixel float64
}

// newAxis returns an axis over values, of at least one power of ten.
func newAxis(values []float64, first, pixels int) axis {
	a := axis{low: int(math.Floor(math.Log10(slices.Min(values)))),
		high: int(math.Ceil(math.Log10(slices.Max(values)))), first: float64(first)}
	a.high = max(a.high, a.low+1)
	a.pixel = float64(pixels) / float64(a.high-a.low)
	return a
}

// at returns the pixel of a value.
func (a axis) at(value float64) int {
	return int(math.Round(a.first + (math.Log10(value)-float64(a.low))*a.pixel))
}

func (l Lines) draw(c *canvas, x, y int) string {
	left, top := x+padding, y+padding+lineHeight-5
	c.text(left, top, "start", ink, "600", l.Title)
	c.text(left, top+lineHeight, "start", faint, "400", l.Subtitle)
	top += lineHeight + 14
	bottom := top + plotHeight
	var sizes, costs []float64
	for _, s := range l.Series {
		for _, p := range s.Points {
			sizes, costs = append(sizes, float64(p.Size)), append(costs, p.Microseconds)
		}
	}
	if len(sizes) == 0 {
		return l.Title + ": not measured."
	}
	labels := plotRight
	for _, series := range l.Series {
		labels = max(labels, boldLetter*len(series.Label+" 999 us")+8)
	}
	width := panelWidth - 2*padding - plotLeft - labels
	across := newAxis(sizes, left+plotLeft, width)
	up := newAxis(costs, bottom, -plotHeight)
	for power := across.low; power <= across.high; power++ {
		at := across.at(math.Pow10(power))
		c.add(`<path d="M%d %dV%d" stroke="%s"/>`, at, top, bottom, grid)
		c.text(at, bottom+16, "middle", faint, "400", short(int(math.Pow10(power))))
	}
	for power := up.low; power <= up.high; power++ {
		at := up.at(math.Pow10(power))
		c.add(`<path d="M%d %dH%d" stroke="%s"/>`, left+plotLeft, at, left+plotLeft+width, grid)
		c.text(left+plotLeft-8, at+4, "end", faint, "400", powerOfTen(power))
	}
	c.text(left+plotLeft+width/2, bottom+32, "middle", faint, "400", l.Size)
	return l.Title + ", " + l.Subtitle + "." + l.drawSeries(c, across, up, left+plotLeft+width+8)
}

// drawSeries draws the lines and their labels, from the lowest to the highest end, and returns the
// figures as text.
func (l Lines) drawSeries(c *canvas, across, up axis, labels int) string {
	type end struct {
		y     int
		label string
		color string
	}
	var ends []end
	text := ""
	for i, s := range l.Series {
		if len(s.Points) == 0 {
			continue
		}
		color := lineColors[i%len(lineColors)]
		var path, figures []string
		for _, p := range s.Points {
			px, py := across.at(float64(p.Size)), up.at(p.Microseconds)
			path = append(path, fmt.Sprintf("%d %d", px, py))
			c.add(`<circle cx="%d" cy="%d" r="3" fill="%s"/>`, px, py, color)
			figures = append(figures, thousands(p.Size)+" "+l.Size+" "+Microseconds(p.Microseconds))
		}
		c.add(`<path d="M%s" fill="none" stroke="%s" stroke-width="2"/>`, strings.Join(path, "L"), color)
		last := s.Points[len(s.Points)-1]
		ends = append(ends, end{up.at(last.Microseconds),
			s.Label + " " + Microseconds(last.Microseconds), color})
		text += " " + s.Label + ": " + strings.Join(figures, ", ") + "."
	}
	slices.SortStableFunc(ends, func(a, b end) int { return a.y - b.y })
	for i := range ends {
		if i > 0 { // labels do not overlap
			ends[i].y = max(ends[i].y, ends[i-1].y+14)
		}
		c.text(labels, ends[i].y+4, "start", ends[i].color, "600", ends[i].label)
	}
	return text
}

// short returns a power of ten as text that fits below an axis: 1,000 and 10k and 1M.
func short(n int) string {
	switch {
	case n >= 1_000_000:
		return strconv.Itoa(n/1_000_000) + "M"
	case n >= 10_000:
		return strconv.Itoa(n/1000) + "k"
	}
	return thousands(n)
}

// thousands returns a number with separators.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// powerOfTen returns 10 to the power of n, a time in microseconds, as text.
func powerOfTen(n int) string {
	switch {
	case n < 0:
		return strconv.FormatFloat(math.Pow10(n), 'f', -n, 64) + " µs"
	case n < 3:
		return strconv.Itoa(int(math.Pow10(n))) + " µs"
	case n < 6:
		return strconv.Itoa(int(math.Pow10(n-3))) + " ms"
	}
	return strconv.Itoa(int(math.Pow10(n-6))) + " s"
}
