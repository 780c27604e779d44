package transcript

// Following tells whether new lines scroll the window.
func (l *List) Following() bool { return l.follow }

// ScrollToBottom goes to the end and follows it.
func (l *List) ScrollToBottom() { l.follow = true }

// ScrollToTop goes to the first line.
func (l *List) ScrollToTop() {
	l.follow = false
	l.top, l.topLine = l.First(), 0
}

// Scroll moves the window by lines; past the end it follows. The cost is that
// of the lines passed.
func (l *List) Scroll(lines int) {
	if l.Len() == 0 || lines == 0 {
		return
	}
	l.settle()
	if lines > 0 && l.follow {
		return
	}
	l.follow = false
	for line := l.topLine + lines; ; {
		if line < 0 {
			if l.top == l.First() {
				l.topLine = 0
				break
			}
			l.top--
			line += l.block(l.top).height()
			continue
		}
		if h := l.block(l.top).height(); line >= h {
			if l.top == l.Last() {
				l.follow = true
				break
			}
			line -= h
			l.top++
			continue
		}
		l.topLine = line
		break
	}
	if lines > 0 {
		l.settle()
	}
}

// AtTop tells that the first line is on the screen.
func (l *List) AtTop() bool {
	l.settle()
	return l.Len() == 0 || l.top == l.First() && l.topLine == 0
}

// Position is how many lines are above the window and how many there are; both
// are estimates for what was never on the screen.
func (l *List) Position() (above, total int) {
	total = l.frontH.total() + l.backH.total()
	if l.Len() == 0 {
		return 0, total
	}
	l.settle()
	return l.linesBefore(l.top) + l.topLine, total
}

func (l *List) linesBefore(id ID) int {
	if id < 0 {
		return l.frontH.total() - l.frontH.before(int(-id))
	}
	return l.frontH.total() + l.backH.before(int(id))
}

// Selected is the item chosen with Select.
func (l *List) Selected() (ID, bool) { return l.selected, l.chosen && l.Len() > 0 }

// ClearSelection chooses nothing.
func (l *List) ClearSelection() { l.chosen = false }

// SelectItem chooses an item and brings it on the screen.
func (l *List) SelectItem(id ID) {
	if l.Len() == 0 {
		return
	}
	l.selected, l.chosen = min(max(id, l.First()), l.Last()), true
	l.reveal(l.selected)
}

// MoveSelection moves the choice by a number of items; the first choice is the last
// item on the screen.
func (l *List) MoveSelection(by int) {
	if l.Len() == 0 {
		return
	}
	if !l.chosen {
		last := l.Last()
		l.settle()
		l.walk(func(p Point, _ string) { last = p.Item })
		l.SelectItem(last)
		return
	}
	l.SelectItem(l.selected + ID(by))
}

// SelectLine selects an item and brings one of its lines to the middle of the window.
func (l *List) SelectLine(id ID, line int) {
	if l.Len() == 0 {
		return
	}
	l.selected, l.chosen = min(max(id, l.First()), l.Last()), true
	l.follow = false
	l.top, l.topLine = l.selected, min(max(line, 0), max(0, l.block(l.selected).height()-1))
	l.up(l.height / 2)
}

// TopLine is the first line on the screen: its item and which of its lines it is.
func (l *List) TopLine() (ID, int) {
	l.settle()
	return l.top, l.topLine
}

// SetTopLine makes a line the first on the screen, if enough follow it.
func (l *List) SetTopLine(id ID, line int) {
	if l.Len() > 0 {
		l.follow = false
		l.top, l.topLine = id, line
	}
}

// FindLine is the first line of an item that matches, as it is drawn, from one on,
// or from its last, by steps of 1 or -1.
func (l *List) FindLine(id ID, from, step int, match func(line string) bool) (line int, ok bool) {
	b := l.block(id)
	for i := min(from, b.height()-1+max(step, 0)); i >= 0 && i < b.height(); i += step {
		if match(b.line(i)) {
			return i, true
		}
	}
	return 0, false
}

// reveal scrolls as little as brings the item's first line on the screen.
func (l *List) reveal(id ID) {
	l.settle()
	if id < l.top || id == l.top && l.topLine > 0 {
		l.follow = false
		l.top, l.topLine = id, 0
		return
	}
	row, onScreen, whole := 0, false, 0
	l.walk(func(at Point, _ string) {
		if at.Item == id {
			onScreen = true
			whole++
		}
		row++
	})
	h := l.block(id).height()
	if onScreen && whole == h {
		return
	}
	l.follow = false
	l.top, l.topLine = id, 0
	if want := l.height - h; want > 0 {
		l.up(want)
	}
}

// up moves the anchor up by lines, as far as there are any.
func (l *List) up(lines int) {
	for l.topLine < lines && l.top > l.First() {
		lines -= l.topLine
		l.top--
		l.topLine = l.block(l.top).height()
	}
	l.topLine = max(0, l.topLine-lines)
}

// settle makes the anchor name an existing line and leaves no empty rows under
// the last item while lines are hidden above.
func (l *List) settle() {
	if l.Len() == 0 {
		l.top, l.topLine, l.follow = 0, 0, true
		return
	}
	if l.follow {
		l.top, l.topLine = l.bottomTop()
		return
	}
	l.top = min(max(l.top, l.First()), l.Last())
	h := l.block(l.top).height()
	l.topLine = max(0, min(l.topLine, h-1))
	for id, left := l.top, l.height+l.topLine; ; {
		if left -= l.block(id).height(); left < 0 {
			return
		}
		if id++; id > l.Last() {
			l.top, l.topLine = l.bottomTop()
			l.follow = true
			return
		}
	}
}

// bottomTop is the anchor that puts the last line on the last row.
func (l *List) bottomTop() (ID, int) {
	left := l.height
	for id := l.Last(); id >= l.First(); id-- {
		if left -= l.block(id).height(); left <= 0 {
			return id, -left
		}
	}
	return l.First(), 0
}
