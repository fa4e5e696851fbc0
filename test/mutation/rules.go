package mutation

import "github.com/dyncontroller/dyncontroller/pkg/rules/document"

// set changes what a set of rules says.
func (w *walk) set(n *document.Node) {
	w.values(n.Get("params"))
	each(n.Get("let"), w.expression)
	each(n.Get("resources"), func(r *document.Node) {
		for _, selector := range []string{"labelSelector", "fieldSelector"} {
			if s := r.Get(selector); s != nil {
				w.put(s, "dropped", removed{})
				w.values(s)
			}
		}
	})
	each(n.Get("rules"), w.rule)
}

func (w *walk) rule(n *document.Node) {
	each(n.Get("let"), w.expression)
	each(n.Get("with"), w.relation)
	w.condition(n.Get("when"))
	if lasts := n.Get("for"); lasts != nil {
		w.put(lasts, "dropped", removed{})
		w.values(lasts)
	}
	each(n.Get("actions"), w.action)
	if going := n.Get("onDelete"); going != nil {
		w.flag(going, "hold", true)
		each(going.Get("actions"), w.action)
		w.condition(going.Get("done"))
		if done := going.Get("done"); done != nil {
			w.put(done, "dropped", removed{})
		}
	}
}

// relation changes which objects are found.
func (w *walk) relation(n *document.Node) {
	for _, e := range n.Entries() {
		switch e.Key.Text() {
		case "resource":
		case "ownedBy":
			w.expression(e.Value)
		default:
			w.values(e.Value)
		}
	}
}

func (w *walk) action(n *document.Node) {
	w.put(n, "the action dropped", removed{})
	w.condition(n.Get("when"))
	w.values(n.Get("forEach"))
	for _, e := range n.Entries() {
		switch e.Key.Text() {
		case "patch":
			w.patch(e.Value)
		case "apply":
			w.values(e.Value.Get("manifest"))
			w.flag(e.Value, "owned", true)
			w.flag(e.Value, "prune", false)
			w.flag(e.Value, "adopt", false)
			w.existing(e.Value)
		case "create":
			w.values(e.Value.Get("manifest"))
			w.flag(e.Value, "owned", true)
		case "event":
			w.fields(e.Value, "type", "reason", "message", "action")
		case "delete":
			w.fields(e.Value, "gracePeriodSeconds", "propagationPolicy")
		default:
		}
	}
}

func (w *walk) patch(n *document.Node) {
	w.fields(n, "merge", "json", "apply")
	if n.Get("apply") != nil {
		w.flag(n, "force", false)
	}
}

func (w *walk) fields(n *document.Node, names ...string) {
	for _, name := range names {
		w.values(n.Get(name))
	}
}

// flag flips a field that has a default.
func (w *walk) flag(n *document.Node, name string, byDefault bool) {
	if n.Get(name) != nil {
		w.values(n.Get(name))
		return
	}
	w.add(n, name, !byDefault)
}

func (w *walk) existing(n *document.Node) {
	if n.Get("existing") != nil {
		w.values(n.Get("existing"))
		return
	}
	w.add(n, "existing", "Keep")
}

// add sets a field that is not written.
func (w *walk) add(n *document.Node, name string, value any) {
	fields, is := n.Any().(map[string]any)
	if !is {
		return
	}
	fields[name] = value
	w.put(n, name+" added", fields)
}
