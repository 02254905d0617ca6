internal import CSQLite

/// What a call of SQLite failed with.
package struct DatabaseFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// What can be done about it.
    package enum Kind: Sendable, Equatable {
        /// The disk, or what the user may have of it, is used up: room helps.
        case full
        /// Another process holds the file: waiting helps.
        case busy
        /// The file is damaged or no database.
        case damaged
        /// The file or its folder cannot be written.
        case readOnly
        /// The file could not be opened.
        case cannotOpen
        /// A later version of the program wrote the file.
        case newerSchema
        /// Anything else: an error of the device, no memory, a bug.
        case other
    }

    /// What can be done about it.
    package var kind: Kind
    /// The C function that failed.
    package var function: String
    /// The extended result code; zero if it was not SQLite that failed.
    package var code: Int32
    /// What SQLite or the system says.
    package var message: String

    /// Creates a fault.
    package init(kind: Kind, function: String, code: Int32 = 0, message: String) {
        self.kind = kind
        self.function = function
        self.code = code
        self.message = message
    }

    /// Creates the fault of a result code.
    init(_ function: String, code: Int32, message: String) {
        self.init(kind: Self.kind(of: code), function: function, code: code, message: message)
    }

    private static func kind(of code: Int32) -> Kind {
        if relay_sqlite_is_full(code) != 0 { return .full }
        return switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
        case SQLITE_READONLY: .readOnly
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: .cannotOpen
        default: .other
        }
    }

    /// The fault of a statement that is known to be right: if SQLite makes nothing of it, the file is damaged.
    var ofFile: DatabaseFault {
        guard code & 0xff == SQLITE_ERROR else { return self }
        return DatabaseFault(kind: .damaged, function: function, code: code, message: message)
    }

    package var description: String {
        code == 0 ? message : "\(function) failed: \(message) (code \(code))"
    }
}
