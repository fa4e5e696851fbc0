package apiserver

import (
	"context"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	lifecyclev1alpha1 "k8s.io/api/lifecycle/v1alpha1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// trait is how kinds differ; those of a kind are added up.
type trait uint16

const (
	clusterWide     trait = 1 << iota // its objects are in no namespace
	hasStatus                         // there is a status subresource, and writes of the object leave the status alone
	settableStatus                    // creating an object may set its status all the same
	aloofStatus                       // writes of the status leave labels, annotations and the like alone
	hasScale                          // there is a scale subresource
	guarded                           // updates need a resourceVersion
	createdByUpdate                   // an update may create
	answersDeleted                    // deleting answers with the object instead of a Status
	orphans                           // what belongs to an object stays when it is deleted, unless something else is asked for
)

// kind is a row of the table: what the API server's own strategies say of a kind.
type kind struct {
	schema.GroupVersionKind
	resource string
	traits   trait
	// bumps are the fields whose changes raise metadata.generation; without any, the kind
	// has no generations.
	bumps []string
	// fixed are the fields that never change.
	fixed []string
	// selectable are the fields that field selectors may name, beside those of all kinds.
	selectable []string
	// names says what is wrong with a name.
	names validation.ValidateNameFunc
	own   custom
}

// custom is what a kind does beyond the table. Each may be nil, and is called after what
// the table says.
type custom struct {
	create         func(ctx context.Context, object runtime.Object)
	update         func(object, old runtime.Object)
	updateStatus   func(object, old runtime.Object)
	validate       func(object runtime.Object) field.ErrorList
	validateUpdate func(object, old runtime.Object) field.ErrorList
}

// is reports whether the kind has the trait.
func (k *kind) is(t trait) bool { return k.traits&t != 0 }

// groupVersionResource is how requests name the kind.
func (k *kind) groupVersionResource() schema.GroupVersionResource {
	return k.GroupVersion().WithResource(k.resource)
}

// anyName is what is wrong with a name that is only a part of paths.
func anyName(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

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
	return &kind{GroupVersionKind: schema.GroupVersionKind{Kind: name}, resource: resource, traits: traits, names: validation.NameIsDNSSubdomain}
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
	k.own = own
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
		called("PersistentVolume", "persistentvolumes", clusterWide|hasStatus|answersDeleted).fixing("Spec.VolumeMode").with(pending()),
		called("PersistentVolumeClaim", "persistentvolumeclaims", hasStatus|answersDeleted).with(pending()),
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

func storageKinds() []*kind {
	return slices.Concat(
		of(storagev1.SchemeGroupVersion,
			called("StorageClass", "storageclasses", clusterWide|answersDeleted).
				fixing("Parameters", "Provisioner", "ReclaimPolicy", "VolumeBindingMode"),
			called("CSIDriver", "csidrivers", clusterWide|guarded|answersDeleted).with(csiDriver()),
			called("CSINode", "csinodes", clusterWide|hasStatus|aloofStatus|guarded|answersDeleted),
			called("CSIStorageCapacity", "csistoragecapacities", guarded).fixing("NodeTopology", "StorageClassName"),
			called("VolumeAttachment", "volumeattachments", clusterWide|hasStatus|aloofStatus|guarded|answersDeleted).fixing("Spec"),
			called("VolumeAttributesClass", "volumeattributesclasses", clusterWide|answersDeleted),
		),
		of(storagemigrationv1.SchemeGroupVersion,
			called("StorageVersionMigration", "storageversionmigrations", clusterWide|hasStatus|aloofStatus|guarded).fixing("Spec")),
		of(resourcev1.SchemeGroupVersion,
			called("DeviceClass", "deviceclasses", clusterWide|answersDeleted).bumping("Spec"),
			called("DeviceTaintRule", "devicetaintrules", clusterWide|hasStatus|aloofStatus|guarded).bumping("Spec"),
			called("ResourceClaim", "resourceclaims", hasStatus|aloofStatus|answersDeleted).fixing("Spec"),
			called("ResourceClaimTemplate", "resourceclaimtemplates", answersDeleted).fixing("Spec"),
			called("ResourceSlice", "resourceslices", clusterWide|answersDeleted).bumping("Spec"),
		),
		of(resourcev1alpha3.SchemeGroupVersion,
			called("ResourcePoolStatusRequest", "resourcepoolstatusrequests", clusterWide|hasStatus|aloofStatus|guarded|answersDeleted)),
	)
}

func platform() []*kind {
	return slices.Concat(
		of(schedulingv1.SchemeGroupVersion,
			called("PriorityClass", "priorityclasses", clusterWide).bumping().fixing("PreemptionPolicy").with(priorityClass())),
		of(schedulingv1beta1.SchemeGroupVersion,
			called("PodGroup", "podgroups", hasStatus|aloofStatus|guarded),
			called("Workload", "workloads", guarded),
		),
		of(schedulingv1alpha3.SchemeGroupVersion, called("CompositePodGroup", "compositepodgroups", hasStatus|aloofStatus|guarded)),
		of(coordinationv1.SchemeGroupVersion, called("Lease", "leases", createdByUpdate|guarded)),
		of(coordinationv1beta1.SchemeGroupVersion,
			called("LeaseCandidate", "leasecandidates", createdByUpdate|guarded).fixing("Spec.LeaseName")),
		of(lifecyclev1alpha1.SchemeGroupVersion,
			called("Eviction", "evictions", hasStatus|aloofStatus|guarded).bumping("Spec"),
			called("EvictionRequest", "evictionrequests", hasStatus|aloofStatus|guarded).bumping("Spec"),
		),
		of(flowcontrolv1.SchemeGroupVersion,
			called("FlowSchema", "flowschemas", clusterWide|hasStatus|aloofStatus).bumping("Spec"),
			called("PriorityLevelConfiguration", "prioritylevelconfigurations", clusterWide|hasStatus|aloofStatus).bumping("Spec"),
		),
		of(certificatesv1.SchemeGroupVersion,
			called("CertificateSigningRequest", "certificatesigningrequests", clusterWide|hasStatus).
				named(anyName).with(signingRequest()),
			called("ClusterTrustBundle", "clustertrustbundles", clusterWide|guarded).
				named(anyName).fixing("Spec.SignerName"),
			called("PodCertificateRequest", "podcertificaterequests", hasStatus|aloofStatus|guarded).fixing("Spec"),
		),
		of(apiserverinternalv1alpha1.SchemeGroupVersion,
			called("StorageVersion", "storageversions", clusterWide|hasStatus|aloofStatus|guarded).named(anyName)),
		admissionKinds(),
	)
}

func admissionKinds() []*kind {
	return of(admissionregistrationv1.SchemeGroupVersion,
		called("MutatingAdmissionPolicy", "mutatingadmissionpolicies", clusterWide|guarded).bumping("Spec"),
		called("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", clusterWide|guarded).bumping("Spec"),
		called("MutatingWebhookConfiguration", "mutatingwebhookconfigurations", clusterWide|guarded).bumping("Webhooks"),
		called("ValidatingAdmissionPolicy", "validatingadmissionpolicies", clusterWide|hasStatus|aloofStatus|guarded).bumping("Spec"),
		called("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", clusterWide|guarded).bumping("Spec"),
		called("ValidatingWebhookConfiguration", "validatingwebhookconfigurations", clusterWide|guarded).bumping("Webhooks"),
	)
}
