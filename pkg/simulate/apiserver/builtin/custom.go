package builtin

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// frozen is what is wrong with a change of data that was made immutable.
func frozen(object, old runtime.Object, was, is *bool, paths ...string) field.ErrorList {
	var out field.ErrorList
	const why = "field is immutable when `immutable` is set"
	if was == nil || !*was {
		return nil
	}
	if is == nil || !*is {
		out = append(out, field.Forbidden(field.NewPath("immutable"), why))
	}
	for _, path := range paths {
		if !reflect.DeepEqual(member(object, path).Interface(), member(old, path).Interface()) {
			out = append(out, field.Forbidden(location(path), why))
		}
	}
	return out
}

// keys is what is wrong with the keys of data.
func keys[V any](data map[string]V, at *field.Path) field.ErrorList {
	var out field.ErrorList
	for key := range maps.Keys(data) {
		for _, problem := range validation.IsConfigMapKey(key) {
			out = append(out, field.Invalid(at.Key(key), key, problem))
		}
	}
	return out
}

// sorted puts what is wrong into an order, which that of maps is not.
func sorted(all field.ErrorList) field.ErrorList {
	slices.SortFunc(all, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return all
}

func configMap() custom {
	return custom{
		validate: func(object runtime.Object) field.ErrorList {
			c, _ := object.(*corev1.ConfigMap)
			out := append(keys(c.Data, field.NewPath("data")), keys(c.BinaryData, field.NewPath("binaryData"))...)
			for key := range c.Data {
				if _, twice := c.BinaryData[key]; twice {
					out = append(out, field.Invalid(field.NewPath("data").Key(key), key, "duplicate of key present in binaryData"))
				}
			}
			return sorted(out)
		},
		validateUpdate: func(object, old runtime.Object) field.ErrorList {
			is, _ := object.(*corev1.ConfigMap)
			was, _ := old.(*corev1.ConfigMap)
			return frozen(object, old, was.Immutable, is.Immutable, "Data", "BinaryData")
		},
	}
}

func secret() custom {
	return custom{
		update: func(object, old runtime.Object) {
			if member(object, "Type").Len() == 0 {
				restore(object, old, "Type")
			}
		},
		validate: func(object runtime.Object) field.ErrorList {
			s, _ := object.(*corev1.Secret)
			return sorted(keys(s.Data, field.NewPath("data")))
		},
		validateUpdate: func(object, old runtime.Object) field.ErrorList {
			is, _ := object.(*corev1.Secret)
			was, _ := old.(*corev1.Secret)
			return frozen(object, old, was.Immutable, is.Immutable, "Data")
		},
	}
}

func serviceAccount() custom {
	clean := func(object runtime.Object) {
		account, _ := object.(*corev1.ServiceAccount)
		for i, reference := range account.Secrets {
			account.Secrets[i] = corev1.ObjectReference{Name: reference.Name}
		}
	}
	return custom{
		create: func(_ context.Context, object runtime.Object) { clean(object) },
		update: func(object, _ runtime.Object) { clean(object) },
	}
}

func volume() custom {
	return custom{create: func(_ context.Context, object runtime.Object) {
		v, _ := object.(*corev1.PersistentVolume)
		v.Status.Phase = corev1.VolumePending
	}}
}

func claim() custom {
	return custom{create: func(_ context.Context, object runtime.Object) {
		c, _ := object.(*corev1.PersistentVolumeClaim)
		c.Status.Phase = corev1.ClaimPending
	}}
}

func deployment() custom {
	return custom{updateStatus: func(object, old runtime.Object) { restore(object, old, "Labels") }}
}

// daemonSet counts changes of the template in an annotation, which is a field inside of the API server.
func daemonSet() custom {
	count := func(object runtime.Object, to int64) {
		set, _ := object.(*appsv1.DaemonSet)
		set.Annotations = maps.Clone(set.Annotations)
		if set.Annotations == nil {
			set.Annotations = map[string]string{}
		}
		set.Annotations[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(to, 10)
	}
	counted := func(object runtime.Object) int64 {
		set, _ := object.(*appsv1.DaemonSet)
		n, err := strconv.ParseInt(set.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	return custom{
		create: func(_ context.Context, object runtime.Object) { count(object, max(counted(object), 1)) },
		update: func(object, old runtime.Object) {
			to := counted(old)
			if differs(object, old, []string{"Spec.Template"}) {
				to++
			}
			count(object, to)
		},
	}
}

func cronJob() custom {
	return custom{validate: func(object runtime.Object) field.ErrorList {
		const most = validation.DNS1035LabelMaxLength - 11 // Jobs are named after it, with a time.
		if name := member(object, "Name").String(); len(name) > most {
			return field.ErrorList{field.Invalid(field.NewPath("metadata").Child("name"), name, fmt.Sprintf("must be no more than %d characters", most))}
		}
		return nil
	}}
}

// csiDriver counts from the first change on.
func csiDriver() custom {
	return custom{update: func(object, old runtime.Object) {
		if differs(object, old, []string{"Spec"}) {
			setGeneration(object, generation(old)+1)
		}
	}}
}

func priorityClass() custom {
	return custom{validateUpdate: func(object, old runtime.Object) field.ErrorList {
		is, _ := object.(*schedulingv1.PriorityClass)
		was, _ := old.(*schedulingv1.PriorityClass)
		if is.Value != was.Value {
			return field.ErrorList{field.Forbidden(field.NewPath("value"), "may not be changed in an update.")}
		}
		return nil
	}}
}

func signingRequest() custom {
	return custom{update: func(object, old runtime.Object) {
		is, _ := object.(*certificatesv1.CertificateSigningRequest)
		was, _ := old.(*certificatesv1.CertificateSigningRequest)
		is.Spec = was.Spec
	}}
}
