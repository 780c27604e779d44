package dashboard

import (
	"fmt"
	"regexp"
	"testing"

	"agentctl/protocol"
)

// TestTheListGroupsByProject checks the headings, which have the directories in short.
func TestTheListGroupsByProject(t *testing.T) {
	for _, size := range listSizes {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			all := everyState()
			for i := range all {
				all[i].Project = []string{"/srv/store", "/home/ada/api"}[i%2]
			}
			d := newTestDashboardWith(t, func(c *Config) { c.Home = "/home/ada" }, size[0], size[1], all...)
			d.press("O")
			screen := d.screen()
			for _, fact := range []string{`· by project `, `^ ~/api 6( |$)`, `^ /srv/store 6( |$)`, `^ ▸ guide .* 3h( │|$)`} {
				if !regexp.MustCompile(`(?m)` + fact).MatchString(screen) {
					t.Errorf("no row matches %s in\n%s", fact, screen)
				}
			}
			s := all[0]
			s.Labels = map[string]string{"team": "infra"}
			d.put(s)
			d.press("O")
			d.want("by label", " team=infra 1", " no label 11")
		})
	}
}

// A row says what the sessions below it wait for.
func TestAParentSaysThatItsChildrenWait(t *testing.T) {
	all := everyState()
	child := all[0]
	child.Session, child.Attributes = "s_child", protocol.Attributes{Parent: "s_idle", SubAgent: true}
	d := newTestDashboard(t, 120, 40, append(all, child)...)
	d.want("idle (1, 1 waiting)")
	d.d.Select("s_idle")
	d.press("z")
	d.want("idle (+1, 1 waiting)")
	d.wantNo("└")
}
