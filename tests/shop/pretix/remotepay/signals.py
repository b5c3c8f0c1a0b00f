from django.dispatch import receiver
from pretix.base.signals import register_payment_providers

from .payment import RemotePay


@receiver(register_payment_providers, dispatch_uid="remotepay")
def register(sender, **kwargs):
    return RemotePay
