package function

import (
	"strings"
	"time"
	// A rule must mean the same wherever it runs: in a container without the
	// database of time zones too.
	_ "time/tzdata"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// What finding a zone costs, which may be to read a file.
const (
	zoneSteps = 500
	zoneBytes = 8 << 10
	// maxZone is longer than the name of any zone.
	maxZone = 64
)

// readZone reads the name of a time zone. It refuses the names that mean another
// zone on another machine.
func readZone(b *value.Budget, v any) (any, error) {
	if err := b.Steps(zoneSteps); err != nil {
		return nil, err
	}
	if err := b.Bytes(zoneBytes); err != nil {
		return nil, err
	}
	const hint = `write a name of the IANA database, such as "UTC" or "Europe/Berlin"`
	name, _ := v.(string)
	switch {
	case name == "":
		return nil, value.Faultf("the time zone is empty").WithHint(hint)
	case strings.EqualFold(name, "Local") || name == "localtime" || name == "posixrules":
		return nil, value.Faultf("the time zone %q is another one on another machine", name).WithHint(hint)
	case len(name) <= maxZone:
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	return nil, value.Faultf("there is no time zone %q", value.Excerpt(name)).WithHint(hint)
}
