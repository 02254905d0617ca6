internal import CGLib

/// Owns one reference to a GObject and drops it on the loop's thread.
@MainLoop
final class ObjectReference {
    let raw: UnsafeMutableRawPointer

    /// Takes over the caller's reference.
    init(adopting raw: UnsafeMutableRawPointer) {
        self.raw = raw
    }

    /// Takes over the caller's reference to an object that C declares without its fields.
    convenience init(adopting opaque: OpaquePointer) {
        self.init(adopting: UnsafeMutableRawPointer(opaque))
    }

    /// Adds a reference of its own to an object that somebody else holds.
    convenience init(retaining raw: UnsafeMutableRawPointer) {
        g_object_ref(raw)
        self.init(adopting: raw)
    }

    isolated deinit {
        g_object_unref(raw)
    }

    /// The object as an instance of a type whose fields C declares.
    func pointer<Object>(as type: Object.Type) -> UnsafeMutablePointer<Object> {
        raw.assumingMemoryBound(to: type)
    }

    /// The object as an instance of a type that C leaves opaque.
    var opaque: OpaquePointer { OpaquePointer(raw) }
}
