package field

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

const (
	labelPattern     = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	subdomainPattern = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
)

// The names of Kubernetes.
var (
	// Label is what names a rule, a namespace or a version.
	Label = named(labelPattern, "lower-case letters, digits and -", validation.DNS1123LabelMaxLength, validation.IsDNS1123Label)
	// Subdomain is what names an object.
	Subdomain = named(subdomainPattern, "lower-case letters, digits, - and .", validation.DNS1123SubdomainMaxLength, validation.IsDNS1123Subdomain)
	// Subresource is one that rules may write.
	Subresource = func() *Type {
		out := Words(plan.Subresources()...).Unless(Label.Check)
		out.Hint += "; others, such as proxy and exec, are no objects that the API server stores"
		return out
	}()
)

func named(pattern, allowed string, most int, reasons func(string) []string) *Type {
	t := Matching(pattern, allowed+", with a letter or a digit at both ends")
	t.Most = most
	t.Check = func(n *document.Node) *document.Error {
		why := reasons(n.Text())
		switch {
		case len(why) == 0:
			return nil
		case n.Text() == "":
			return n.Errorf("give it one", "the name is empty")
		case strings.HasPrefix(why[0], "must be no more"):
			return n.Errorf("it "+why[0], "%q is too long", n.Text())
		default:
			return n.Errorf("use "+t.Message, "%q is not a name that Kubernetes takes", n.Text())
		}
	}
	return t
}

// Unless returns a copy of the type that is checked otherwise first.
func (t *Type) Unless(first func(*document.Node) *document.Error) *Type {
	out := *t
	out.Check = func(n *document.Node) *document.Error {
		if wrong := first(n); wrong != nil || t.Check == nil {
			return wrong
		}
		return t.Check(n)
	}
	return &out
}
