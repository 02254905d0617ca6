package import RelayCore

extension StreamCursor {
    /// The most bytes of an id by which a catch-up can begin: three times as many must fit into an address.
    package static let longestID = 1024

    /// Creates the cursor of the last event of a batch that has an id of the server of a usable length; nil if none has.
    package init?(lastOf batch: EventBatch) {
        let isUsable = { (record: EventRecord) in record.hasServerID && record.id.count <= Self.longestID }
        guard let index = batch.records.lastIndex(where: isUsable) else { return nil }
        let id = batch[index].text(of: batch.records[index].id)
        self.init(id: id ?? UntrustedText(), createdAt: batch.records[index].createdAt)
    }

    /// The identity of the event.
    var identity: EventID { EventID(text: id.utf8.span.bytes) }
}
