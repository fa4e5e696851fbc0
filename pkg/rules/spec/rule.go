package spec

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

func parseRule(n *document.Node) (Rule, document.Errors) {
	r := Rule{node: n}
	errs := n.Decode(
		document.Required("name", checked(&r.Name, label)),
		document.Optional("description", document.String(&r.Description)),
		document.Required("watch", document.Raw(&r.Watch)),
		document.Optional("with", filled(definitions(&r.With))),
		document.Optional("let", definitions(&r.Let)),
		document.Optional("when", document.Raw(&r.When)),
		document.Optional("for", document.Raw(&r.For)),
		document.Optional("actions", elements(&r.Actions)),
		document.Optional("onDelete", r.parseOnDelete),
		document.Optional("suspend", document.Bool(&r.Suspend)),
		document.Optional("mode", document.OneOf(&r.Mode, Enforce, Audit)),
		document.Optional("limits", r.parseLimits),
	)
	if n.Kind() == document.KindMap && n.Get("actions") == nil && n.Get("onDelete") == nil && len(errs) == 0 {
		errs = append(errs, n.Errorf("add actions: ...", `the field "actions" is missing`))
	}
	return r, errs
}

func elements(into *[]*document.Node) document.Decoder {
	return filled(func(n *document.Node) document.Errors {
		*into = n.Elements()
		return asErrors(n.Expect(document.KindList))
	})
}

func (r *Rule) parseOnDelete(n *document.Node) document.Errors {
	r.OnDelete = &OnDelete{Hold: true}
	errs := n.Decode(
		document.Required("actions", elements(&r.OnDelete.Actions)),
		document.Optional("done", document.Raw(&r.OnDelete.Done)),
		document.Optional("hold", document.Bool(&r.OnDelete.Hold)),
	)
	if done := r.OnDelete.Done; done != nil && !r.OnDelete.Hold {
		errs = append(errs, done.Errorf("leave it out, or leave hold out", "done ends the hold, and hold is false"))
	}
	return errs
}

// defaultPer is the window of limits that name none.
const defaultPer = 10 * time.Minute

func (r *Rule) parseLimits(n *document.Node) document.Errors {
	r.Limits = &Limits{Per: defaultPer}
	return n.Decode(
		document.Required("maxObjects", r.Limits.parseObjects),
		document.Optional("per", r.Limits.parsePer),
	)
}

// What stops a rule is no limit.
const stopHint = "to stop the rule, write suspend: true"

// parseObjects takes a number of objects, or a percentage of those watched.
func (l *Limits) parseObjects(n *document.Node) document.Errors {
	switch n.Kind() {
	case document.KindInvalid:
		return nil
	case document.KindInt:
		count, _ := n.Value().(int64)
		if count < 1 {
			return document.Errors{n.Errorf(stopHint, "the limit must be at least one object, have %d", count)}
		}
		l.Objects = int(count)
		return nil
	default:
		return asErrors(l.parseShare(n))
	}
}

// percentage has no sign and no exponent.
var percentage = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?%$`)

func (l *Limits) parseShare(n *document.Node) *document.Error {
	text := n.Text()
	if n.Kind() != document.KindString || !percentage.MatchString(text) {
		return n.Errorf(`write a number such as 5, or a percentage such as "10%"`, "want a number of objects or a percentage, have %s", n.Kind())
	}
	share, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	switch {
	case err != nil || share > 100:
		return n.Errorf(`write "100%" for all objects`, "there are no more objects than 100%%, have %q", text)
	case share == 0:
		return n.Errorf(stopHint, "the limit must be more than nothing, have %q", text)
	}
	l.Percent = share
	return nil
}

func (l *Limits) parsePer(n *document.Node) document.Errors {
	if n.Kind() == document.KindInvalid {
		return nil
	}
	per, err := Duration(n)
	if err != nil {
		return document.Errors{err}
	}
	if per <= 0 {
		return document.Errors{n.Errorf("write a duration such as 10m", "the window of a limit must be longer than nothing")}
	}
	l.Per = per
	return nil
}

// Duration reads a constant duration: a text such as 5m or 1d12h, or a number of
// seconds.
func Duration(n *document.Node) (time.Duration, *document.Error) {
	d, err := expression.ParseDuration(n.Value())
	if err != nil {
		return 0, n.Errorf("write it with units, such as 90s, 1h30m, 2d or 1w", "want a duration, have %q", n.Text())
	}
	return d, nil
}
