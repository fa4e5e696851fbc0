package engine

import (
	"errors"
	"maps"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// errCome is why an object is not made under a name that was sent before.
var errCome = errors.New("what was to be made has turned up since, so it is decided anew")

// RandomLength is how many characters the API server adds to a generateName.
const RandomLength = 5

// RandomName makes a name as the API server does of a generateName. The engine
// chooses it, so that a request whose answer was lost can be sent again without
// making a second object.
func RandomName(_ Key, prefix string) string { return Named(prefix, rand.String(RandomLength)) }

// Named is the name of a generateName with what is added to it, which may cut it short.
func Named(prefix, added string) string {
	return prefix[:min(len(prefix), validation.DNS1123LabelMaxLength-RandomLength)] + added
}

// generateName is the beginning of the name that a new object asks for, empty where
// it has one.
func generateName(operation plan.Operation) string {
	if operation.Type != plan.Create {
		return ""
	}
	fields, _ := operation.Body.(map[string]any)
	if plan.Text(fields, "metadata", "name") != "" {
		return ""
	}
	return plan.Text(fields, "metadata", "generateName")
}

// called returns the operation under a name.
func called(operation plan.Operation, name string) plan.Operation {
	fields, _ := operation.Body.(map[string]any)
	metadata, _ := fields["metadata"].(map[string]any)
	metadata, fields = maps.Clone(metadata), maps.Clone(fields)
	metadata["name"] = name
	fields["metadata"] = metadata
	operation.Body, operation.Target.Name = fields, name
	return operation
}

// purpose is what a generated name is for. It is comparable.
type purpose struct {
	rule              plan.Rule
	gvr               schema.GroupVersionResource
	namespace, prefix string
}

func purposeOf(operation plan.Operation, prefix string) purpose {
	return purpose{operation.Rules[0], operation.Target.GVR, operation.Target.Namespace, prefix}
}

// unresolved are generated names whose objects may have been made, by what they are for.
type unresolved map[purpose][]string

// take returns such a name once, empty where there is none.
func (n *unresolved) take(prefix string, operation plan.Operation) string {
	of := purposeOf(operation, prefix)
	known := (*n)[of]
	switch len(known) {
	case 0:
		return ""
	case 1:
		delete(*n, of)
	default:
		(*n)[of] = known[1:]
	}
	return known[0]
}

// keep notes the name of an operation.
func (n *unresolved) keep(sent sending) {
	if *n == nil {
		*n = unresolved{}
	}
	purpose := purposeOf(sent.Operation, sent.prefix)
	(*n)[purpose] = append((*n)[purpose], sent.Target.Name)
}

// unresolved takes a name that was sent before and that no cache shows, empty where
// there is none. A name that the plan was decided by was made, and has been counted. Of
// one that a cache has come to show since, the object is returned with it.
func (a *attempt) unresolved(sent sending) (name string, there map[string]any) {
	for {
		name = a.record.names.take(sent.prefix, sent.Operation)
		if name == "" {
			return "", nil
		}
		there = a.engine.cached(a.now, called(sent.Operation, name).Target)
		if there == nil || !a.asked.showed(uidOf(there)) {
			return name, there
		}
	}
}

// cached is the object of the name as a cache shows it, nil where none does.
func (e *Engine) cached(now *active, object plan.Object) map[string]any {
	for _, cache := range now.holding(object) {
		if found := e.caches.View(cache, object.Namespace, object.Name).Object; found != nil {
			return found.Object
		}
	}
	return nil
}

// come is the answer to a creation that was decided on before what it is to make was
// seen to be there. All caches have to show it first: it is not known whether the rules
// ask for it, and nothing keeps them from making another one after that.
func come(target plan.Object, there map[string]any) *write.Result {
	target.UID, target.ResourceVersion = uidOf(there), versionOf(there)
	return &write.Result{Class: write.Stale, Err: errCome, Echo: &write.Echo{Object: target}, Object: there}
}

// isOurs reports whether an object is one that the rule made for the watched one.
func (a *attempt) isOurs(operation plan.Operation, object map[string]any) bool {
	rule := operation.Rules[0]
	return plan.Label(object, plan.LabelSet) == rule.SetID() && plan.Label(object, plan.LabelRule) == rule.Name &&
		plan.Label(object, plan.LabelOwnerUID) == string(a.record.uid)
}
