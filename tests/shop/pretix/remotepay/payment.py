import os
from urllib.parse import urlencode

from pretix.base.payment import BasePaymentProvider
from pretix.multidomain.urlreverse import build_absolute_uri


class RemotePay(BasePaymentProvider):
    identifier = "remotepay"
    verbose_name = public_name = "Pay at another site"
    execute_payment_needs_user = True

    def payment_is_valid_session(self, request):
        return True

    def checkout_confirm_render(self, request, order=None, info_data=None):
        return "You will be sent to the payment provider."

    def execute_payment(self, request, payment):
        order = payment.order
        back = build_absolute_uri(
            self.event,
            "plugins:remotepay:return",
            kwargs={"order": order.code, "hash": order.tagged_secret("remotepay"), "payment": payment.pk},
        )
        return os.environ["SHOP_PROVIDER"] + "/pay?" + urlencode({"amount": payment.amount, "back": back})
