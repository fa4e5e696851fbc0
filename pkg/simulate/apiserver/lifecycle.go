package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// lifecycle keeps new objects out of namespaces that are going, and the namespaces of the
// cluster itself from going, as the admission plugin of that name does. A namespace that nobody has made is taken to be there.
type lifecycle struct{}

var _ admission.ValidationInterface = lifecycle{}

// Handles implements [admission.Interface].
func (lifecycle) Handles(operation admission.Operation) bool {
	return operation == admission.Create || operation == admission.Delete
}

// Validate implements [admission.ValidationInterface].
func (lifecycle) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetOperation() == admission.Delete {
		return immortal(a)
	}
	world := storage.From(ctx)
	if a.GetNamespace() == "" || world == nil {
		return nil
	}
	data := world.Get(storage.Change{Resource: schema.GroupResource{Resource: "namespaces"}, Name: a.GetNamespace()})
	if data == nil {
		return nil
	}
	var namespace corev1.Namespace
	if err := json.Unmarshal(data, &namespace); err != nil {
		return fmt.Errorf("reading the namespace %s: %w", a.GetNamespace(), err)
	}
	if namespace.DeletionTimestamp == nil {
		return nil
	}
	err := admission.NewForbidden(a, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", a.GetNamespace()))
	if refused, is := err.(*apierrors.StatusError); is { //nolint:errorlint // As it was made.
		refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{
			Type:    corev1.NamespaceTerminatingCause,
			Message: fmt.Sprintf("namespace %s is being terminated", a.GetNamespace()),
			Field:   "metadata.namespace",
		})
	}
	return err
}

// immortal refuses to delete a namespace that every cluster has.
func immortal(a admission.Attributes) error {
	if a.GetKind().GroupKind() != (schema.GroupKind{Kind: "Namespace"}) {
		return nil
	}
	switch a.GetName() {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return apierrors.NewForbidden(a.GetResource().GroupResource(), a.GetName(), errors.New("this namespace may not be deleted"))
	default:
		return nil
	}
}
