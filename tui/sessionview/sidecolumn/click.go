package sidecolumn

// Click returns the section at a row of the screen, and the index of the line in the section. The
// section is "" for a title and a row without a section.
func (c *Column) Click(row int) (section string, index int) { return c.at(c.offset+row, narrowWidth) }

// at returns the section that has a line of the column, and the index of the line in the section.
// section is "" for a line of no section, and index -1 for its title.
func (c *Column) at(line, width int) (section string, index int) {
	first := 0
	for _, s := range c.sections {
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
