package spec

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// refusal is what is wrong with a text, and what to write instead.
type refusal struct{ message, hint string }

// checked takes a string that passes a check.
func checked(into *string, check func(string) *refusal) document.Decoder {
	return func(n *document.Node) document.Errors {
		if errs := document.String(into)(n); len(errs) > 0 || n.Kind() != document.KindString {
			return errs
		}
		if wrong := check(*into); wrong != nil {
			return document.Errors{n.Errorf(wrong.hint, "%s", wrong.message)}
		}
		return nil
	}
}

// label is what names a rule, a namespace or a version.
func label(text string) *refusal {
	return notAName(text, validation.IsDNS1123Label(text), "lower-case letters, digits and -")
}

// subdomain is what names an object.
func subdomain(text string) *refusal {
	return notAName(text, validation.IsDNS1123Subdomain(text), "lower-case letters, digits, - and .")
}

func notAName(text string, reasons []string, allowed string) *refusal {
	switch {
	case len(reasons) == 0:
		return nil
	case text == "":
		return &refusal{"the name is empty", "give it one"}
	case strings.HasPrefix(reasons[0], "must be no more"):
		return &refusal{fmt.Sprintf("%q is too long", text), "it " + reasons[0]}
	default:
		return &refusal{
			fmt.Sprintf("%q is not a name that Kubernetes takes", text),
			"use " + allowed + ", with a letter or a digit at both ends",
		}
	}
}

// serviceAccount catches the form in which RBAC names one.
func serviceAccount(text string) *refusal {
	if namespace, name, both := strings.Cut(strings.TrimPrefix(text, "system:serviceaccount:"), ":"); both {
		return &refusal{
			fmt.Sprintf("%q has a namespace in it", text),
			fmt.Sprintf("write serviceAccountName: %s, and in a ClusterRuleSet serviceAccountNamespace: %s", name, namespace),
		}
	}
	return subdomain(text)
}

// groupName allows the core group, which is empty.
func groupName(text string) *refusal {
	if text == "" {
		return nil
	}
	if group, version, both := strings.Cut(text, "/"); both {
		return &refusal{fmt.Sprintf("%q is a group and a version", text), fmt.Sprintf("write group: %s and version: %s", group, version)}
	}
	return subdomain(text)
}

// versionName catches the form in which manifests write group and version.
func versionName(text string) *refusal {
	if group, version, both := strings.Cut(text, "/"); both {
		return &refusal{fmt.Sprintf("%q is a group and a version", text), fmt.Sprintf("write group: %s and version: %s", group, version)}
	}
	return label(text)
}

// resourceName catches the kind in place of the resource, subresources, and the
// form in which kubectl writes resource and group.
func resourceName(text string) *refusal {
	resource, group, inFull := strings.Cut(text, ".")
	parent, _, below := strings.Cut(text, "/")
	switch {
	case strings.ToLower(text) != text:
		return &refusal{fmt.Sprintf("%q looks like a kind", text), "write the plural resource, such as " + strings.TrimSuffix(strings.ToLower(text), "s") + "s"}
	case below:
		return &refusal{fmt.Sprintf("%q is a subresource, which cannot be watched", text), "write " + parent}
	case inFull && resource != "" && group != "":
		return &refusal{fmt.Sprintf("%q is a resource and a group", text), fmt.Sprintf("write resource: %s and group: %s", resource, group)}
	default:
		return label(text)
	}
}

// keyPattern is what can stand between the commas of watch.
var keyPattern = regexp.MustCompile(`^[^\s,]+$`)

func labelSelector(text string) *refusal {
	if _, err := labels.Parse(text); err != nil {
		return &refusal{fmt.Sprintf("not a label selector: %v", err), "write it as kubectl does, such as app=tidb,tier!=test"}
	}
	return nil
}

func fieldSelector(text string) *refusal {
	if _, err := fields.ParseSelector(text); err != nil {
		return &refusal{fmt.Sprintf("not a field selector: %v", err), "write it as kubectl does, such as metadata.name=basic"}
	}
	return nil
}

// selectorText says how to write a selector that is written as in other places.
func selectorText(decode document.Decoder) document.Decoder {
	return func(n *document.Node) document.Errors {
		errs := decode(n)
		entries := n.Entries()
		if len(entries) == 0 || len(errs) != 1 {
			return errs
		}
		if nested := n.Get("matchLabels").Entries(); len(nested) > 0 {
			entries = nested
		}
		var all []string
		for _, entry := range entries {
			all = append(all, entry.Key.Text()+"="+entry.Value.Text())
		}
		errs[0].Hint = "write it as text: " + value.Excerpt(strings.Join(all, ","))
		return errs
	}
}

// hint replaces that of the error at a node, if there is one.
func hint(errs document.Errors, at *document.Node, hint string) {
	for _, err := range errs {
		if p := at.Position(); err.Line == p.Line && err.Column == p.Column {
			err.Hint = hint
		}
	}
}
