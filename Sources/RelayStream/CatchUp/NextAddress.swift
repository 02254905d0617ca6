internal import HTTPClient
internal import RelayCore

/// Finds the address of the page after one that was read.
struct NextAddress {
    let configuration: CatchUpConfiguration
    /// Where the catch-up began.
    let cursor: StreamCursor
    /// The address of the page.
    let page: Secret

    /// Returns the address that a page names, by its text or by its fields `Link`; nil if it is the last one.
    ///
    /// - Throws: `PageFault` if it names something else than an address of the same origin.
    func find(in text: RawSpan, links: [String]) throws(PageFault) -> Secret? {
        switch configuration.next {
        case nil: return nil
        case .link:
            guard let target = LinkField.next(in: links) else { return nil }
            return try address(of: target, "its \"Link\"")
        case .pointer(let pointer):
            guard let value = JSONLookup.find(pointer, in: text), value.kind != .null else { return nil }
            if value.kind == .bool, text.extracting(value.range).byteCount == 5 { return nil }
            var bytes: [UInt8] = []
            guard value.kind == .string || value.kind == .number, value.append(from: text, to: &bytes) else {
                throw PageFault("its \"next\" is neither text nor a number")
            }
            return bytes.isEmpty ? nil : try address(of: bytes, isNumber: value.kind == .number)
        }
    }

    /// A URL or a reference that begins with `/` or `?` is one; other text takes the place of the cursor, if that has
    /// one in the address, and else is a reference too.
    private func address(of bytes: [UInt8], isNumber: Bool) throws(PageFault) -> Secret? {
        let text = String(decoding: bytes, as: UTF8.self)
        let isReference = ["/", "?", "http://", "https://"].contains { text.lowercased().hasPrefix($0) }
        if isReference || (!configuration.url.hasCursor && !isNumber) { return try address(of: text, "its \"next\"") }
        guard configuration.url.hasCursor else {
            throw PageFault("its \"next\" is no URL, and the \"url\" of the catch-up has no {cursor} to put it in")
        }
        let next = configuration.url.expanded(cursor, text: bytes)
        guard next.reveal().utf8.count <= HTTPAddress.maxBytes else { throw PageFault("its \"next\" is too long") }
        return next
    }

    private func address(of reference: String, _ what: String) throws(PageFault) -> Secret {
        let url: String
        switch HTTPAddress.resolve(reference, against: page.reveal()) {
        case .failure(let fault): throw PageFault("\(what) is no usable URL: it \(fault.message)")
        case .success(let resolved): url = resolved
        }
        guard case .success(let address) = HTTPAddress.parse(url), !address.hasUserInfo else {
            throw PageFault("\(what) has a user or a password in its URL")
        }
        guard address.hasSameOrigin(as: configuration.url.origin) else {
            throw PageFault("\(what) leads to another origin, \(address.scheme)://\(address.authority)")
        }
        return Secret(url)
    }
}
