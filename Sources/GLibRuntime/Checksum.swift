internal import CGLib

/// Hashes, by `GChecksum`.
package enum Checksum {
    /// Returns the 20 bytes of SHA-1 (FIPS 180-4), which RFC 6455 asks for; no longer safe against forgery.
    package static func sha1(_ bytes: [UInt8]) -> [UInt8] {
        hash(bytes, G_CHECKSUM_SHA1)
    }

    /// Returns the 32 bytes of SHA-256 (FIPS 180-4).
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        hash(bytes, G_CHECKSUM_SHA256)
    }

    private static func hash(_ bytes: [UInt8], _ type: GChecksumType) -> [UInt8] {
        let checksum = g_checksum_new(type)
        defer { g_checksum_free(checksum) }
        g_checksum_update(checksum, bytes, bytes.count)
        var count = gsize(g_checksum_type_get_length(type))
        var digest = [UInt8](repeating: 0, count: Int(count))
        g_checksum_get_digest(checksum, &digest, &count)
        return digest
    }
}

/// Base64 (RFC 4648, section 4).
package enum Base64 {
    /// Returns `bytes` in Base64, padded, in one line.
    package static func encode(_ bytes: [UInt8]) -> String {
        guard let text = g_base64_encode(bytes, gsize(bytes.count)) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}
