package builtin

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// table lists the kinds that are served. It follows the strategies under pkg/registry of
// Kubernetes 1.37: whoever changes it looks there.
func table() []*kind {
	return slices.Concat(coreKinds(), workloads(), network(), access(), storageKinds(), platform())
}

// of completes rows of a group and version.
func of(gv schema.GroupVersion, rows ...*kind) []*kind {
	for _, row := range rows {
		row.GroupVersionKind = gv.WithKind(row.Kind)
	}
	return rows
}

// called begins a row.
func called(name, resource string, traits trait) *kind {
	return &kind{GroupVersionKind: schema.GroupVersionKind{Kind: name}, resource: resource, traits: traits}
}

func (k *kind) bumping(paths ...string) *kind {
	k.bumps = append([]string{}, paths...) // Without paths it is still not nil: generations stay at 1.
	return k
}

func (k *kind) fixing(paths ...string) *kind {
	k.fixed = paths
	return k
}

func (k *kind) selectedBy(paths ...string) *kind {
	k.selectable = paths
	return k
}

func (k *kind) named(names validation.ValidateNameFunc) *kind {
	k.names = names
	return k
}

func (k *kind) with(own custom) *kind {
	k.own = &own
	return k
}

func coreKinds() []*kind {
	return of(corev1.SchemeGroupVersion,
		called("ConfigMap", "configmaps", 0).with(configMap()),
		called("Secret", "secrets", 0).fixing("Type").selectedBy("Type").with(secret()),
		called("Service", "services", hasStatus|createdByUpdate|answersDeleted).named(validation.NameIsDNSLabel).selectedBy("Spec.ClusterIP", "Spec.Type"),
		called("ServiceAccount", "serviceaccounts", answersDeleted).with(serviceAccount()),
		called("Pod", "pods", hasStatus|answersDeleted).bumping("Spec").with(pod()).selectedBy(
			"Spec.NodeName", "Spec.RestartPolicy", "Spec.SchedulerName", "Spec.ServiceAccountName", "Spec.HostNetwork",
			"Status.Phase", "Status.PodIP", "Status.NominatedNodeName"),
		called("PodTemplate", "podtemplates", answersDeleted).bumping("Template"),
		called("ReplicationController", "replicationcontrollers", hasStatus|hasScale|orphans).bumping("Spec").selectedBy("Status.Replicas"),
		called("Node", "nodes", clusterWide|hasStatus|settableStatus).selectedBy("Spec.Unschedulable"),
		called("Namespace", "namespaces", clusterWide|hasStatus|answersDeleted).named(validation.ValidateNamespaceName).with(namespace()).selectedBy("Status.Phase"),
		called("PersistentVolume", "persistentvolumes", clusterWide|hasStatus|answersDeleted).fixing("Spec.VolumeMode").with(volume()),
		called("PersistentVolumeClaim", "persistentvolumeclaims", hasStatus|answersDeleted).with(claim()),
		called("Endpoints", "endpoints", createdByUpdate),
		called("LimitRange", "limitranges", createdByUpdate),
		called("ResourceQuota", "resourcequotas", hasStatus|answersDeleted),
		called("Event", "events", createdByUpdate).named(anyName),
	)
}

func workloads() []*kind {
	return slices.Concat(
		of(appsv1.SchemeGroupVersion,
			called("Deployment", "deployments", hasStatus|hasScale).bumping("Spec", "Annotations").fixing("Spec.Selector").with(deployment()),
			called("ReplicaSet", "replicasets", hasStatus|hasScale).bumping("Spec").fixing("Spec.Selector"),
			called("StatefulSet", "statefulsets", hasStatus|hasScale).bumping("Spec").named(validation.NameIsDNSLabel).
				fixing("Spec.Selector", "Spec.VolumeClaimTemplates", "Spec.ServiceName", "Spec.PodManagementPolicy"),
			called("DaemonSet", "daemonsets", hasStatus).bumping("Spec").fixing("Spec.Selector").with(daemonSet()),
			called("ControllerRevision", "controllerrevisions", 0).fixing("Data"),
		),
		of(batchv1.SchemeGroupVersion,
			called("Job", "jobs", hasStatus|orphans).bumping("Spec").with(job()).fixing(
				"Spec.Selector", "Spec.CompletionMode", "Spec.PodFailurePolicy", "Spec.BackoffLimitPerIndex", "Spec.ManagedBy", "Spec.SuccessPolicy"),
			called("CronJob", "cronjobs", hasStatus).bumping("Spec").with(cronJob()),
		),
		of(policyv1.SchemeGroupVersion, called("PodDisruptionBudget", "poddisruptionbudgets", hasStatus|guarded).bumping("Spec").named(anyName)),
		of(autoscalingv2.SchemeGroupVersion, called("HorizontalPodAutoscaler", "horizontalpodautoscalers", hasStatus).bumping("Spec")),
	)
}

func network() []*kind {
	return slices.Concat(
		of(networkingv1.SchemeGroupVersion,
			called("Ingress", "ingresses", hasStatus).bumping("Spec"),
			called("IngressClass", "ingressclasses", clusterWide).bumping("Spec").fixing("Spec.Controller"),
			called("NetworkPolicy", "networkpolicies", 0).bumping("Spec"),
			called("IPAddress", "ipaddresses", clusterWide).named(anyName).fixing("Spec.ParentRef"),
			called("ServiceCIDR", "servicecidrs", clusterWide|hasStatus|aloofStatus),
		),
		of(discoveryv1.SchemeGroupVersion,
			called("EndpointSlice", "endpointslices", 0).bumping("AddressType", "Endpoints", "Ports", "Labels").fixing("AddressType")),
		of(eventsv1.SchemeGroupVersion, called("Event", "events", createdByUpdate).with(event())),
	)
}

// access are the kinds that say who may do what. Their names may have any letters.
func access() []*kind {
	return slices.Concat(
		of(rbacv1.SchemeGroupVersion,
			called("Role", "roles", createdByUpdate).named(anyName),
			called("RoleBinding", "rolebindings", createdByUpdate).named(anyName).fixing("RoleRef"),
			called("ClusterRole", "clusterroles", clusterWide|createdByUpdate).named(anyName),
			called("ClusterRoleBinding", "clusterrolebindings", clusterWide|createdByUpdate).
				named(anyName).fixing("RoleRef"),
		),
		of(nodev1.SchemeGroupVersion,
			called("RuntimeClass", "runtimeclasses", clusterWide|createdByUpdate|guarded).fixing("Handler")),
	)
}
