import Delivery
import Testing

@Suite struct `a delivery error` {
    @Test func `separates the reason, the words and the status`() {
        let error = DeliveryError.retry(.throttled, after: .seconds(7), detail: "slow down", status: 429)
        #expect(error.reason == .throttled)
        #expect(error.detail == "slow down")
        #expect(error.status == 429)
        #expect(DeliveryError.unreachable(.noBus).status == nil)
    }
}
