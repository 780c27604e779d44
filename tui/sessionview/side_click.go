package sessionview

// clickSide handles a click on a line of the side column. A click on a task or a queued message
// moves the focus to it, a click on a file opens the changed files.
func (v *View) clickSide(row int) {
	c := &v.panels.side
	switch section, at := c.at(c.offset+row, sideWidth); section {
	case "plan":
		v.setFocus(onPlan)
		v.panels.plan.Select(at)
	case "queue":
		if at < v.panels.queue.Len() {
			v.setFocus(onQueue)
			v.panels.queue.Select(at)
		}
	case "files":
		v.showChangedFiles()
	}
}

// at returns the section that has a line of the column, and the index of the line in the section.
// section is "" for a line of no section, and index -1 for its title.
func (c *sideColumn) at(line, width int) (section string, index int) {
	first := 0
	for _, s := range c.sections() {
		title, _, lines := s(width)
		if len(lines) == 0 {
			continue
		}
		if line >= first && line <= first+len(lines) {
			index = line - first - 1
			if index < 0 {
				return "", -1
			}
			return title, index
		}
		first += len(lines) + 2 // the title and the blank line
	}
	return "", -1
}
