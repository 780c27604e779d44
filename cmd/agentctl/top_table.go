package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/output"
)

// A topColumn is a column of the table of top.
type topColumn struct {
	name  string
	drop  int // where there is no room: 1 is left out first; 0: never
	value func(r *topRow, now time.Time) string
}

// topAbout is the width that the last column gets before other columns are left out, if its texts
// are that wide.
const topAbout = 28

var topColumns = []topColumn{
	{"SESSION", 0, func(r *topRow, _ time.Time) string { return cmp.Or(output.OneLine(r.Name, 24), r.Session) }},
	{"STATUS", 0, func(r *topRow, _ time.Time) string { return string(r.Status) }},
	{"AGENT", 4, func(r *topRow, _ time.Time) string { return output.Cell(r.Agent, 16) }},
	{"TURN", 8, func(r *topRow, now time.Time) string {
		if r.Started == nil {
			return "-"
		}
		return output.Age(now.Sub(*r.Started))
	}},
	{"TOKENS", 7, func(r *topRow, _ time.Time) string { return fmt.Sprint(r.Tokens) }},
	{"TOK/S", 3, func(r *topRow, _ time.Time) string { return rateText(r.Rate) }},
	{"COST", 6, func(r *topRow, _ time.Time) string {
		if r.Cost == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f %s", r.Cost, output.OneLine(r.Currency, 8))
	}},
	{"QUEUE", 5, func(r *topRow, _ time.Time) string { return fmt.Sprint(r.Queue) }},
	{"CLIENTS", 2, func(r *topRow, _ time.Time) string { return fmt.Sprint(r.Clients) }},
	{"LAG", 1, func(r *topRow, _ time.Time) string {
		if r.LagBytes <= 0 {
			return "-"
		}
		return fmt.Sprintf("%dK", (r.LagBytes+1023)>>10)
	}},
	{"ABOUT", 0, func(r *topRow, _ time.Time) string { return output.OneLine(cmp.Or(r.Doing, r.Title), 48) }},
}

// topTable returns the table as text. With a width in columns it leaves out the least important
// columns until the others fit; 0 is any width.
func topTable(rows []topRow, now time.Time, width int) string {
	table := make([][]string, 0, len(topColumns)) // by column
	var drop, widths []int
	for _, c := range topColumns {
		cells := []string{c.name}
		widest := len(c.name)
		for i := range rows {
			cells = append(cells, c.value(&rows[i], now))
			widest = max(widest, ansi.StringWidth(cells[i+1]))
		}
		table, drop, widths = append(table, cells), append(drop, c.drop), append(widths, widest)
	}
	last := func() int { return len(table) - 1 }
	for least := 1; width > 0 && least < len(topColumns); least++ {
		if sum(widths[:last()])+2*last()+min(widths[last()], topAbout) <= width {
			break
		}
		if i := slices.Index(drop, least); i >= 0 {
			table, drop = slices.Delete(table, i, i+1), slices.Delete(drop, i, i+1)
			widths = slices.Delete(widths, i, i+1)
		}
	}
	var b strings.Builder
	for line := range len(rows) + 1 {
		for k, cells := range table[:last()] {
			b.WriteString(cells[line] + strings.Repeat(" ", widths[k]-ansi.StringWidth(cells[line])+2))
		}
		b.WriteString(table[last()][line] + "\n")
	}
	return b.String()
}

func sum(numbers []int) (total int) {
	for _, n := range numbers {
		total += n
	}
	return total
}
