from django.http import Http404
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from pretix.base.models import Order, OrderPayment
from pretix.multidomain.urlreverse import eventreverse


@csrf_exempt
@require_POST
def back(request, order, hash, payment, **kwargs):
    """The customer comes back. No session is needed, since a cross-site POST carries no SameSite cookie."""
    try:
        order = request.event.orders.get_with_secret_check(code=order, received_secret=hash, tag="remotepay")
    except Order.DoesNotExist:
        raise Http404("Unknown order")
    payment = get_object_or_404(order.payments, pk=payment, provider="remotepay")
    if request.POST.get("paid") == "yes" and payment.state != OrderPayment.PAYMENT_STATE_CONFIRMED:
        payment.confirm()
    kwargs = {"order": order.code, "secret": order.secret}
    return redirect(eventreverse(request.event, "presale:event.order", kwargs=kwargs) + "?paid=yes")
