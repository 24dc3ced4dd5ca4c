package machine

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"jobtop/ui/theme"
)

// canvas is a grid of characters with their roles. What is put later covers what was
// there; what reaches beyond the grid is cut.
type canvas struct {
	cells [][]cell
}

type cell struct {
	role theme.Role
	text string
}

func newCanvas(width, height int) *canvas {
	c := &canvas{cells: make([][]cell, height)}
	for y := range c.cells {
		c.cells[y] = make([]cell, width)
	}
	return c
}

// put writes text of single-width characters.
func (c *canvas) put(x, y int, role theme.Role, s string) {
	for s != "" {
		character, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if x >= 0 && x < len(c.cells[y]) {
			c.cells[y][x] = cell{role, character}
		}
		s = s[len(character):]
		x++
	}
}

func (c *canvas) lines() []theme.Line {
	lines := make([]theme.Line, len(c.cells))
	for y, row := range c.cells {
		end := len(row)
		for end > 0 && strings.TrimSpace(row[end-1].text) == "" && row[end-1].role < theme.Selected {
			end--
		}
		for _, cell := range row[:end] {
			if cell.text == "" {
				cell.text = " "
			}
			lines[y].Add(cell.role, cell.text)
		}
	}
	return lines
}
